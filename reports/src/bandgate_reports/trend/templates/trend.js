(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { texts } = data;
  const body = document.querySelector(".verdicts tbody");
  const rows = body ? [...body.rows].map((tr, i) => ({ tr, i, ...data.rows[i] })) : [];
  const byKey = new Map(rows.filter((row) => row.k).map((row) => [row.k, row]));
  const others = [...document.querySelectorAll("[data-probe]")];
  const form = document.querySelector("form");
  const shown = document.getElementById("shown");
  const opened = new Map(); // row: its detail

  const make = (name, text, className) => {
    const element = document.createElement(name);
    if (text) element.textContent = text;
    if (className) element.className = className;
    return element;
  };

  // ---- One row's chart -------------------------------------------------------------------------
  const list = (title, lines, className) => {
    const box = make("div", "", className);
    box.append(make("h3", title));
    const items = make("ul");
    for (const [name, text] of lines) {
      const item = make("li", text);
      if (name) item.prepend(make("b", name), " ");
      items.append(item);
    }
    box.append(items);
    return box;
  };

  const legend = (h) => {
    const used = new Set(h.statuses);
    const marks = [];
    const glyph = (markup, text) => {
      const entry = make("span", text);
      entry.insertAdjacentHTML("afterbegin", `<svg viewBox="-11 -6 22 12" aria-hidden="true">${markup}</svg>`);
      marks.push(entry);
    };
    if (h.bands.length) glyph('<rect class="band" x="-11" y="-5" width="22" height="10"/><path class="ref" d="M-11 0H11"/>', "baseline: reference and bounds");
    for (const status of used) glyph(`<g class="glyph ${status}"><use href="#i-${status}" x="-6" y="-6" width="12" height="12"/></g>`, status);
    if (h.unstable.includes(true)) glyph('<circle class="ring" r="5"/>', "unstable: low once, fine in a fresh process");
    if (h.odd.size) glyph('<circle class="odd" r="5"/>', "bad night, alone");
    if (h.steps.length) glyph('<g class="step worse"><line y1="-6" y2="6"/></g>', "change point");
    if (h.flags.length) glyph('<g class="flag"><line y1="-6" y2="6"/></g>', "environment changed");
    const line = make("p", "", "legend");
    line.append(...marks);
    return line;
  };

  const plotOf = (row, h, label, say) => {
    const holder = make("div", "", "holder");
    holder.innerHTML = '<svg class="plot" role="img" tabindex="0"></svg>';
    const plot = holder.firstChild;
    plot.setAttribute("aria-label", `${label}. Arrow keys read single points.`);
    let axes, width, at = -1;
    const show = (index) => {
      at = Math.min(Math.max(index, 0), h.at.length - 1);
      const [x, y] = chart.place(h, axes, at);
      const cursor = plot.querySelector(".cursor");
      cursor.setAttribute("cx", x);
      cursor.setAttribute("cy", y);
      cursor.style.visibility = "visible";
      say(chart.reading(h, at));
    };
    const clear = () => {
      at = -1;
      plot.querySelector(".cursor").style.visibility = "hidden";
      say("");
    };
    const draw = (wanted) => {
      if (wanted === width) return;
      width = wanted;
      plot.setAttribute("viewBox", `0 0 ${width} ${chart.HEIGHT}`);
      [axes, plot.innerHTML] = chart.svg(h, row, width);
      if (at >= 0) show(at);
    };
    draw(720);
    new ResizeObserver(([entry]) => draw(Math.round(Math.min(Math.max(entry.contentRect.width, 300), 1150)))).observe(holder);
    plot.addEventListener("pointermove", (event) => {
      const box = plot.getBoundingClientRect();
      const x = ((event.clientX - box.left) * width) / box.width;
      let best = 0, least = Infinity;
      h.at.forEach((_, i) => {
        const distance = Math.abs(chart.place(h, axes, i)[0] - x);
        if (distance <= least) [best, least] = [i, distance];
      });
      show(best);
    });
    plot.addEventListener("pointerleave", () => document.activeElement !== plot && clear());
    plot.addEventListener("focus", () => show(h.at.length - 1));
    plot.addEventListener("blur", clear);
    plot.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      show((at < 0 ? h.at.length - 1 : at) + step);
    });
    return holder;
  };

  const detailOf = (row) => {
    const h = chart.decode(row, texts);
    const tr = make("tr", "", "detail");
    tr.id = `${row.k}-detail`;
    const cell = make("td");
    cell.colSpan = 7;
    const rest = `${h.unit}, ${h.statistic === "worst" ? "slowest part" : h.statistic} of each ${h.ms === 86400e3 ? "night" : "run"}${h.lower ? ", lower is better" : ""}`;
    const says = make("p", rest, "reading");
    says.setAttribute("aria-live", "polite");
    const label = [texts[row.y[4]], "on", texts[row.y[1]], texts[row.y[2]], row.tr.querySelector(".unseen").textContent].join(" ");
    cell.append(says, plotOf(row, h, label, (text) => { says.textContent = text || rest; }), legend(h));
    const facts = make("div", "", "facts");
    if (h.steps.length) facts.append(list("Change points", h.steps.map((s) => ["", s.text]), "worse"));
    if (h.flags.length) facts.append(list("Environment", h.flags.map((f) => [`${f.number}`, `${f.when} ${f.text}`]), "flagged"));
    if (h.odd.size) facts.append(list("Bad nights", [...h.odd].slice(-12).map((i) => ["", chart.reading(h, i)]), ""));
    if (facts.childNodes.length) cell.append(facts);
    const drawn = h.all ? `${h.at.length} of ${h.all} nights are drawn: those out of the ordinary, and of the others every few` : "";
    const foot = [h.remarks, h.about, drawn].filter(Boolean).join(" · ");
    if (foot) cell.append(make("p", foot, "soft small"));
    tr.append(cell);
    return tr;
  };

  const toggle = (row, open, focus = false) => {
    const button = row.tr.querySelector("button");
    if (open && !opened.has(row)) {
      opened.set(row, detailOf(row));
      row.tr.after(opened.get(row));
      button.setAttribute("aria-controls", opened.get(row).id);
    } else if (!open && opened.has(row)) {
      opened.get(row).remove();
      opened.delete(row);
      button.removeAttribute("aria-controls");
    }
    button.setAttribute("aria-expanded", String(open));
    if (focus) button.focus();
  };

  // ---- Filters, order, address -----------------------------------------------------------------
  const fields = ["status", "model", "node", "probe"];
  const of = (row, name) => (name === "status" ? row.y[0] : texts[row.y[fields.indexOf(name) + (name === "probe" ? 1 : 0)]]);
  const choice = (name) => form.elements[name].value;

  const remember = () => {
    const kept = new URLSearchParams();
    for (const name of ["q", ...fields, "sort"]) if (choice(name)) kept.set(name, choice(name));
    if (opened.size) kept.set("open", [...opened.keys()].map((row) => row.k).join(","));
    history.replaceState(null, "", String(kept) ? `#${kept}` : location.pathname + location.search);
  };

  const headings = { device: (row) => [row.y[1], row.y[2], row.y[3]].map((n) => texts[n]).filter(Boolean).join(" · "), probe: (row) => texts[row.y[4]] };
  const collator = new Intl.Collator("en", { numeric: true });
  let order = "";
  const arrange = () => {
    if (choice("sort") === order) return; // moving a thousand rows is the dearest thing here
    order = choice("sort");
    for (const old of body.querySelectorAll(".group")) old.remove();
    const name = headings[order];
    const sorted = name
      ? rows.map((row) => [name(row), row]).sort(([a, p], [b, q]) => collator.compare(a, b) || p.i - q.i)
      : rows.map((row) => ["", row]);
    const all = document.createDocumentFragment();
    let last = "";
    for (const [group, row] of sorted) {
      if (group !== last) {
        const head = make("tr", "", "group");
        const cell = make("th", group);
        cell.colSpan = 7;
        cell.scope = "rowgroup";
        head.append(cell);
        all.append(head);
        last = group;
      }
      all.append(row.tr);
      if (opened.has(row)) all.append(opened.get(row));
    }
    body.append(all);
  };

  const filter = () => {
    const wanted = fields.map((name) => [name, choice(name)]).filter(([, value]) => value);
    const words = choice("q").toLowerCase().split(/\s+/).filter(Boolean);
    let visible = 0;
    for (const row of rows) {
      let fits = wanted.every(([name, value]) => of(row, name) === value);
      if (fits && words.length) {
        row.said ??= `${row.tr.textContent} ${texts[row.g || 0]}`.toLowerCase();
        fits = words.every((word) => row.said.includes(word));
      }
      if (row.tr.hidden === fits) row.tr.hidden = !fits;
      if (opened.has(row)) opened.get(row).hidden = !fits;
      visible += fits;
    }
    for (const item of others) {
      item.hidden = !wanted.every(([name, value]) => !item.dataset[name] || item.dataset[name] === value);
    }
    for (const group of document.querySelectorAll(".device")) {
      group.hidden = !group.querySelector("figure:not([hidden])");
    }
    for (const head of body.querySelectorAll(".group")) {
      let next = head.nextElementSibling;
      while (next && !next.classList.contains("group") && (next.hidden || next.classList.contains("detail"))) next = next.nextElementSibling;
      head.hidden = !next || next.classList.contains("group");
    }
    const chosen = wanted.length || words.length;
    shown.textContent = !chosen ? `${rows.length} rows` : visible ? `${visible} of ${rows.length} rows` : `None of ${rows.length} rows fits`;
  };

  const apply = () => { arrange(); filter(); remember(); };

  const restore = () => {
    const before = new URLSearchParams(location.hash.slice(1));
    for (const name of [...fields, "sort", "q"]) {
      const value = before.get(name) || "";
      const field = form.elements[name];
      if (!field.options || [...field.options].some((o) => o.value === value)) field.value = value;
    }
    arrange();
    filter();
    const open = new Set((before.get("open") || "").split(","));
    for (const [key, row] of byKey) toggle(row, open.has(key));
    const named = byKey.get(location.hash.slice(1));
    if (named) {
      toggle(named, true);
      named.tr.scrollIntoView({ block: "center" });
    }
  };

  if (form) {
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", apply);
    form.elements.q.addEventListener("input", apply);
    form.addEventListener("reset", () => setTimeout(apply));
    window.addEventListener("hashchange", restore);
    restore();
    body.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      const row = rows.find((one) => one.tr === event.target.closest("tr"));
      if (!row || !row.k || event.target.closest("a") || (!button && !event.target.closest(".h"))) return;
      toggle(row, !opened.has(row));
      remember();
    });
    body.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      const tr = event.target.closest("tr");
      const row = rows.find((one) => one.tr === tr || opened.get(one) === tr);
      if (row && opened.has(row)) {
        toggle(row, false, true);
        remember();
      }
    });
    // A jump within the page leaves the address to the filters.
    document.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="#"]');
      const target = link && document.getElementById(link.hash.slice(1));
      if (!target) return;
      event.preventDefault();
      target.scrollIntoView();
      target.focus({ preventScroll: true });
    });
  }

  // ---- Strips: the nearest part under the pointer; with the keyboard, left and right -----------
  for (const figure of document.querySelectorAll(".device figure")) {
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
