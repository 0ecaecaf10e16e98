"use strict";
// Draws one history from what encoding.py wrote. Texts are set as text, never as markup.
const chart = (() => {
  const LETTERS = { r: "regression", e: "error", i: "inconclusive", n: "no-baseline", b: "improved", p: "pass", m: "measured", s: "skipped" };
  const PLAIN = ["pass", "no-baseline", "measured"];
  const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
  const HEIGHT = 250, LEFT = 58, RIGHT = 18, TOP = 34, FLOOR = HEIGHT - 26;
  const DAY = 86400e3;

  const decode = (row, texts) => {
    const at = [];
    row.t.split(",").forEach((part, i) => {
      const [step, times] = part.split("*").map(Number);
      for (let n = 0; n < (times || 1); n += 1) at.push(i ? at[at.length - 1] + step : step);
    });
    const list = (key) => row[key] || [];
    return {
      at,
      values: row.v.split(",").map((v) => (v === "" ? null : Number(v))),
      statuses: [...row.s].map((letter) => LETTERS[letter.toLowerCase()]),
      unstable: [...row.s].map((letter) => letter !== letter.toLowerCase()),
      ms: row.z * 1000, unit: texts[row.u || 0], range: row.r,
      number: (v) => ((row.m + v) * row.q).toFixed(row.d),
      ratio: (v, reference) => (row.m + v) / (row.m + reference),
      bands: list("b"), odd: new Set(list("o")),
      steps: list("c").map(([i, worse, text]) => ({ i, worse, text: texts[text] })),
      flags: list("f").map(([x, number, when, text]) => ({ x, number, when, text: texts[text] })),
      whys: new Map(list("w").map(([i, text]) => [i, texts[text]])),
      about: texts[row.g || 0], remarks: texts[row.x], all: row.h || 0,
      lower: Boolean(row.l), statistic: texts[row.p || 0],
    };
  };

  const percent = (ratio) => {
    const off = Math.round((ratio - 1) * 1e4) / 100;
    return `${off < 0 ? "−" : off > 0 ? "+" : "±"}${Math.abs(off).toFixed(2)} %`;
  };

  const stamp = (h, i) => {
    const text = new Date(h.at[i] * h.ms).toISOString();
    return h.ms === DAY ? text.slice(0, 10) : `${text.slice(0, 10)} ${text.slice(11, 16)} UTC`;
  };

  const bandAt = (h, i) => h.bands.findLast((b) => b[0] <= i) || h.bands[0];

  // What is to be said of one point; also what changed just before it.
  const reading = (h, i) => {
    const parts = [stamp(h, i)];
    const band = bandAt(h, i);
    if (h.values[i] !== null) {
      const off = band ? ` (${percent(h.ratio(h.values[i], band[1]))})` : "";
      parts.push(`${h.number(h.values[i])} ${h.unit}${off}`);
    }
    parts.push(h.statuses[i] + (h.unstable[i] ? ", unstable" : ""));
    if (h.odd.has(i)) parts.push("bad night");
    if (h.whys.has(i)) parts.push(h.whys.get(i));
    for (const step of h.steps) if (step.i === i) parts.push(`change: ${step.text}`);
    for (const f of h.flags) if (f.x <= h.at[i] && (i === 0 || f.x > h.at[i - 1])) parts.push(`${f.number}: ${f.text}`);
    return parts.join(" · ");
  };

  const nice = (low, high, most) => {
    const rough = (high - low) / most;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough);
    const ticks = [];
    for (let n = Math.ceil(low / step); n * step <= high; n += 1) ticks.push(n * step);
    const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9) + (Math.abs(step / power - 2.5) < 1e-6 && step < 10 ? 1 : 0));
    return ticks.map((v) => [v, v.toFixed(decimals)]);
  };

  const times = (from, to, most) => {
    const days = (to - from) / DAY;
    const ticks = [];
    if (days > 75) {
      const months = [1, 2, 3, 6, 12, 24, 60].find((n) => days / 30.4 / n <= most) || 120;
      const first = new Date(from);
      for (let m = first.getUTCFullYear() * 12 + first.getUTCMonth(); ; m += 1) {
        const at = Date.UTC(Math.floor(m / 12), m % 12);
        if (at > to) break;
        if (at < from || m % months) continue;
        ticks.push([at, m % 12 && ticks.length ? MONTHS[m % 12] : `${MONTHS[m % 12]} ${Math.floor(m / 12)}`]);
      }
      return ticks;
    }
    const hour = DAY / 24;
    const step = [0.25, 0.5, 1, 2, 3, 6, 12, 24, 48, 72, 168, 336].map((n) => n * hour).find((n) => (to - from) / n <= most) || 28 * DAY;
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      const d = new Date(at);
      const day = `${d.getUTCDate()} ${MONTHS[d.getUTCMonth()]}`;
      ticks.push([at, step < DAY && d.getUTCHours() + d.getUTCMinutes() ? d.toISOString().slice(11, 16) : day]);
    }
    return ticks;
  };

  const axes = (h, width) => {
    const first = h.at[0] * h.ms, last = h.at[h.at.length - 1] * h.ms;
    const room = Math.max((last - first) * 0.015, h.ms / 2);
    const [from, to] = [first - room, last + room];
    const [low, high] = h.range;
    return {
      from, to,
      x: (ms) => Math.round(10 * (LEFT + ((width - LEFT - RIGHT) * (Math.min(Math.max(ms, from), to) - from)) / (to - from))) / 10,
      y: (v) => Math.round(10 * (FLOOR - ((FLOOR - TOP) * (Math.min(Math.max(v, low), high) - low)) / (high - low))) / 10,
      holds: (v) => low <= v && v <= high,
    };
  };

  const grid = (h, a, width, decode0) => {
    const out = [];
    const [low, high] = h.range.map((v) => (decode0.m + v) * decode0.q);
    for (const [v, label] of nice(low, high, 5)) {
      const y = a.y(v / decode0.q - decode0.m);
      out.push(`<path class="grid" d="M${LEFT} ${y}H${width - RIGHT}"/><text x="${LEFT - 7}" y="${y + 4}" text-anchor="end">${label}</text>`);
    }
    out.push(`<path class="axis" d="M${LEFT} ${FLOOR}H${width - RIGHT}"/>`);
    for (const [ms, label] of times(a.from, a.to, Math.max(3, Math.floor(width / 95)))) {
      const x = a.x(ms);
      const anchor = x > width - RIGHT - 22 ? "end" : x < LEFT + 14 ? "start" : "middle";
      out.push(`<path class="axis" d="M${x} ${FLOOR}v4"/><text x="${anchor === "end" ? width - 2 : x}" y="${FLOOR + 18}" text-anchor="${anchor}">${label}</text>`);
    }
    return out.join("");
  };

  const bands = (h, a, width) => h.bands.map(([i, reference, lower, upper], n) => {
    const next = h.bands[n + 1];
    const between = (j) => (a.x(h.at[j - 1] * h.ms) + a.x(h.at[j] * h.ms)) / 2;
    const x0 = n ? between(i) : Math.max(LEFT, a.x(h.at[i] * h.ms) - 8);
    const x1 = next ? between(next[0]) : Math.min(width - RIGHT, a.x(h.at[h.at.length - 1] * h.ms) + 8);
    const top = upper === null ? TOP : a.y(upper), foot = lower === null ? FLOOR : a.y(lower);
    const bounds = [lower, upper].filter((v) => v !== null && a.holds(v)).map((v) => `M${x0} ${a.y(v)}H${x1}`);
    return `<rect class="band" x="${x0}" y="${top}" width="${Math.max(0, x1 - x0)}" height="${Math.max(0, foot - top)}"/><path class="bound" d="${bounds.join("")}"/><path class="ref" d="M${x0} ${a.y(reference)}H${x1}"/>`;
  }).join("");

  const trace = (h, a) => {
    const known = h.at.map((_, i) => i).filter((i) => h.values[i] !== null);
    const apart = known.slice(1).map((i, n) => h.at[i] - h.at[known[n]]).sort((p, q) => p - q);
    const habit = Math.max(1, apart[Math.floor(apart.length / 2)] || 1);
    let path = "", gaps = "";
    known.forEach((i, n) => {
      const away = n ? h.at[i] - h.at[known[n - 1]] : 0;
      const pause = h.ms === DAY && !h.all && away > 1.5 * habit && Math.round(away / habit) > 1;
      const x = a.x(h.at[i] * h.ms);
      if (pause) {
        const x0 = a.x(h.at[known[n - 1]] * h.ms);
        gaps += `<rect class="gap" x="${x0}" y="${FLOOR - 5}" width="${x - x0}" height="5"/>`;
      }
      path += `${n === 0 || pause ? "M" : "L"}${x} ${a.y(h.values[i])}`;
    });
    return `${gaps}<path class="trace" d="${path}"/>`;
  };

  const place = (h, a, i) => [a.x(h.at[i] * h.ms), h.values[i] === null ? FLOOR - 8 : a.y(h.values[i])];

  const marks = (h, a) => {
    const dots = {};
    let out = "";
    h.at.forEach((_, i) => {
      const [x, y] = place(h, a, i);
      const status = h.statuses[i];
      const off = h.values[i] !== null && !a.holds(h.values[i]);
      if (h.odd.has(i)) out += `<circle class="odd" cx="${x}" cy="${y}" r="7"/>`;
      if (h.unstable[i]) out += `<circle class="ring" cx="${x}" cy="${y}" r="5.5"/>`;
      if (PLAIN.includes(status) && !off) dots[status] = `${dots[status] || ""}M${x} ${y}h0`;
      else out += `<use class="mark ${status}" href="#i-${status}" x="${x - 5}" y="${y - 5}" width="10" height="10"/>`;
      if (off) out += `<path class="mark ${status}" d="M${x} ${y > HEIGHT / 2 ? y + 9 : y - 9}l-3.5 ${y > HEIGHT / 2 ? -5 : 5}h7z" fill="currentColor"/>`;
    });
    const plain = Object.entries(dots).map(([status, d]) => `<path class="dots ${status}" d="${d}"/>${status === "no-baseline" ? `<path class="dots hole" d="${d}"/>` : ""}`);
    return plain.join("") + out;
  };

  const flags = (h, a) => {
    let last = -Infinity;
    return h.flags.map((f) => {
      const x = a.x(f.x * h.ms);
      const labelled = x - last >= 14;
      if (labelled) last = x;
      return `<g class="flag"><line x1="${x}" x2="${x}" y1="${TOP - 16}" y2="${FLOOR}"/>${labelled ? `<text x="${x}" y="${TOP - 20}" text-anchor="middle">${f.number}</text>` : ""}</g>`;
    }).join("");
  };

  // The label is the beginning of the text: "−2.10 % since 2026-11-03".
  const steps = (h, a, width) => h.steps.map((s, n) => {
    const x = s.i ? (a.x(h.at[s.i - 1] * h.ms) + a.x(h.at[s.i] * h.ms)) / 2 : a.x(h.at[0] * h.ms);
    const right = x > width * 0.72;
    const label = s.text.split(":")[0].replace(/[^\d\s.,%+\-−±a-z]/gi, "");
    return `<g class="step ${s.worse ? "worse" : "better"}"><line x1="${x}" x2="${x}" y1="${TOP - 6}" y2="${FLOOR}"/><text x="${x + (right ? -5 : 5)}" y="${TOP + 4 + (n % 3) * 14}" text-anchor="${right ? "end" : "start"}">${label}</text></g>`;
  }).join("");

  const svg = (h, row, width) => {
    const a = axes(h, width);
    return [a, `${grid(h, a, width, row)}${bands(h, a, width)}${flags(h, a)}${trace(h, a)}${marks(h, a)}${steps(h, a, width)}<circle class="cursor" r="8"/>`];
  };

  return { decode, svg, reading, place, HEIGHT };
})();
