"use strict";
(() => {
  // Filters: what does not match is hidden, and the choice is kept in the address.
  const form = document.querySelector("form");
  const shown = document.getElementById("shown");
  const items = [...document.querySelectorAll("[data-probe]")];
  const selects = form ? [...form.querySelectorAll("select")] : [];

  const apply = () => {
    const wanted = selects.filter((s) => s.value !== "");
    let visible = 0;
    for (const item of items) {
      const fits = wanted.every((s) => item.dataset[s.name] === s.value);
      item.hidden = !fits;
      if (fits && item.tagName === "TR") visible += 1;
    }
    for (const group of document.querySelectorAll(".device")) {
      group.hidden = !group.querySelector("figure:not([hidden])");
    }
    shown.textContent = wanted.length ? `${visible} verdicts shown` : "";
    const chosen = new URLSearchParams(wanted.map((s) => [s.name, s.value]));
    history.replaceState(null, "", wanted.length ? `#${chosen}` : location.pathname + location.search);
  };
  if (form) {
    const before = new URLSearchParams(location.hash.slice(1));
    for (const select of selects) {
      const value = before.get(select.name);
      if (value !== null && [...select.options].some((o) => o.value === value)) select.value = value;
    }
    form.hidden = false;
    form.addEventListener("change", apply);
    form.addEventListener("reset", () => setTimeout(apply));
    if (selects.some((s) => s.value !== "")) apply();
  }

  // Reading a chart: the nearest result under the pointer; with the keyboard, left and right.
  for (const figure of document.querySelectorAll("figure")) {
    const plot = figure.querySelector("svg.plot");
    const reading = figure.querySelector(".reading");
    const cursor = plot.querySelector(".cursor");
    const points = JSON.parse(figure.querySelector("script").textContent);
    const rest = reading.textContent;
    let at = points.length - 1;
    const show = (index) => {
      if (!points.length) return;
      at = Math.min(Math.max(index, 0), points.length - 1);
      const [x, y, text] = points[at];
      cursor.setAttribute("cx", x);
      cursor.setAttribute("cy", y);
      cursor.style.visibility = "visible";
      reading.textContent = text;
    };
    const clear = () => {
      cursor.style.visibility = "hidden";
      reading.textContent = rest;
    };
    plot.addEventListener("pointermove", (event) => {
      const box = plot.getBoundingClientRect();
      const scale = plot.viewBox.baseVal.width / box.width;
      const x = (event.clientX - box.left) * scale;
      const y = (event.clientY - box.top) * scale;
      let best = 0;
      let least = Infinity;
      points.forEach(([px, py], i) => {
        const distance = (px - x) ** 2 * 9 + (py - y) ** 2;
        if (distance < least) [best, least] = [i, distance];
      });
      show(best);
    });
    plot.addEventListener("pointerleave", clear);
    plot.addEventListener("focus", () => show(points.length - 1));
    plot.addEventListener("blur", clear);
    plot.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      show(at + step);
    });
  }
})();
