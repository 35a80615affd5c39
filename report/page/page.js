"use strict";
// Draws the page from the data block. What a log says reaches the page as text only: by textContent, never as markup.
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const at = Object.fromEntries(data.columns.map((name, i) => [name, i]));
const text = (n) => data.texts[n];
const $ = (id) => document.getElementById(id);
const [CLIENT, SERVER] = [1, 2], [NO, YES] = [1, 2];
const sideName = { [CLIENT]: "client", [SERVER]: "server" };
const BARE = { [CLIENT]: data.logs.find((l) => l.side === "client"), [SERVER]: data.logs.find((l) => l.side === "server") };

// el makes an element; strings become text.
function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) {
    if (k === "onclick") e.addEventListener("click", v);
    else if (v === true) e.setAttribute(k, "");
    else if (v !== false && v != null) e.setAttribute(k, v);
  }
  e.append(...children.filter((c) => c != null && c !== ""));
  return e;
}

// A Call reads a row of the data. Times are nanoseconds, on the clock of the side that they belong to.
class Call {
  constructor(row, i) { this.row = row; this.i = i; }
  get(column) { return this.row[at[column]]; }
  get id() { return this.get("id"); }
  get requester() { return this.get("requester"); }
  get responder() { return 3 - this.requester; }
  get session() { return this.get("session"); }
  get tool() { return [text(this.get("method")), text(this.get("name"))].filter(Boolean).join(" "); }
  get leaf() { return text(this.get("leaf")); }
  get stalled() { return (this.get("flags") & 1) > 0; }
  get slow() { return (this.get("flags") & 2) > 0; }
  get quiet() { return (this.get("flags") & 4) > 0; }
  get q() { return [this.get("q1"), this.get("q2"), this.get("q3")]; }
  get state() { return this.stalled ? "stalled" : this.slow ? "slow" : this.quiet ? "quiet" : this.leaf === "" ? "no leaf" : "fine"; }
  get waited() { return between(this.get("sent_at"), this.get("answered_at")); }
  get served() { return between(this.get("read_at"), this.get("written_at")); }
  get gaveUp() { return between(this.get("sent_at"), this.get("cancelled_at")); }
  get cause() { const c = this.get("causes"); return c.length ? text(c[0][0]).replace("none_can_be_told", "–") : ""; }
  get firstLine() { return cite(this.requester, this.get("sent_line") || this.get("answered_line")) || cite(this.responder, this.get("read_line") || this.get("written_line")); }
  get haystack() { return (this.hay ??= [this.id, this.tool, sessionName(this.session), this.cause, this.state, leafWords[this.leaf]].join("\n").toLowerCase()); }
}
const leafWords = { never_arrived: "never arrived", never_written: "never written", written_not_read: "written, not read", agent_level: "delivered", "": "no leaf" };
const calls = data.calls.map((row, i) => new Call(row, i));

// between is a duration on one clock; null when an end is unknown or the clock stepped back.
function between(a, b) { return a == null || b == null || b < a ? null : b - a; }

function sessionName(k) { const s = data.sessions[k]; return s.name || `connection ${s.connection}`; }

// cite names a line as a reader finds it.
function cite(side, line) {
  const log = BARE[side];
  if (!log || !line) return "";
  let k = log.before.length - 1;
  while (k > 0 && log.before[k] >= line) k--;
  return `${log.files[k]}:${line - log.before[k]}`;
}

const commas = (n) => n.toLocaleString("en-US");
const bytes = (n) => (n == null ? "" : `${commas(n)} B`);
function ms(ns) { return ns == null ? "" : `${(ns / 1e6).toLocaleString("en-US", { maximumFractionDigits: 3 })} ms`; }
// about is as precise as the length deserves.
function about(ns) { return ns == null ? "" : Math.abs(ns) >= 1e9 ? ms(Math.round(ns / 1e6) * 1e6) : Math.abs(ns) >= 1e7 ? ms(Math.round(ns / 1e5) * 1e5) : ms(ns); }

// ---- what each side's lane shows of a call

// segments are the stretches of time that one side's log shows of a call.
function segments(c, side) {
  const end = data.sessions[c.session].ends[side - 1];
  const out = [];
  const add = (kind, name, a, b, from, to) => {
    if (a != null && b != null && b >= a) out.push({ kind, name, a, b, title: [name + " " + about(b - a), [cite(side, from), cite(side, to)].filter(Boolean).join(" → ")].join("\n") });
  };
  const v = (name) => c.get(name);
  if (side === c.requester) {
    const until = v("cancelled_at") ?? end;
    if (v("cancelled_at") != null && v("answered_at") != null && v("cancelled_at") < v("answered_at")) {
      add("bad", "waited, then gave up", v("sent_at"), v("cancelled_at"), v("sent_line"), v("cancelled_line"));
      add("late", "answered too late", v("cancelled_at"), v("answered_at"), v("cancelled_line"), v("answered_line"));
    } else if (v("answered_line")) add(c.slow ? "late" : "wait", "waited", v("sent_at"), v("answered_at"), v("sent_line"), v("answered_line"));
    else if (v("sent_line")) add(c.stalled ? "bad" : "wait", "waited in vain", v("sent_at"), until, v("sent_line"), v("cancelled_line"));
    return out;
  }
  const [read, entered, left, written] = [v("read_at"), v("entered_at"), v("left_at"), v("written_at")];
  if (v("entered_line")) {
    add("dispatch", "dispatch", read, entered, v("read_line"), v("entered_line"));
    if (v("left_line")) {
      add("handler", "handler", entered, left, v("entered_line"), v("left_line"));
      if (v("written_line")) add("flush", "flush", left, written, v("left_line"), v("written_line"));
      else add("open", "not written", left, end, v("left_line"), 0);
    } else if (v("written_line")) add("handler", "entered, and written", entered, written, v("entered_line"), v("written_line"));
    else add("open", "handler, never left", entered, end, v("entered_line"), 0);
  } else if (v("written_line")) add("served", "read to written", read, written, v("read_line"), v("written_line"));
  else if (v("read_line")) add("open", "read, never written", read, end, v("read_line"), 0);
  return out;
}

// instants are the moments that a lane marks with a sign.
function instants(c, side) {
  const [when, line, what] = side === c.requester ? ["cancelled_at", "cancelled_line", "cancelled"] : ["cancel_read_at", "cancel_read_line", "read the cancel"];
  const out = [];
  if (c.get(when) != null) out.push({ at: c.get(when), symbol: "times", stroke: "var(--ink)", title: `${what}\n${cite(side, c.get(line))}` });
  if (side === c.requester && c.get("answered_at") != null) out.push({ at: c.get("answered_at"), symbol: "circle", stroke: "var(--ink)", title: `read the answer, ${bytes(c.get("response_bytes"))}\n${cite(side, c.get("answered_line"))}` });
  return out;
}

const kindsOfMark = { "bad line": ["triangle", "var(--bad)"], "stream ends": ["square", "var(--soft)"] };

// lines lists what one side's log shows of a call, in the order of its lines.
function lines(c, side) {
  const asks = side === c.requester;
  const list = asks
    ? [["sent_at", "sent_line", "sent the request", "request_bytes"], ["answered_at", "answered_line", "read the answer", "response_bytes"], ["cancelled_at", "cancelled_line", "cancelled"]]
    : [["read_at", "read_line", "read the request", "request_bytes"], ["entered_at", "entered_line", "handler entered"], ["left_at", "left_line", "handler left"], ["written_at", "written_line", "wrote the answer", "response_bytes"], ["cancel_read_at", "cancel_read_line", "read the cancel"]];
  const known = list.filter(([, line]) => c.get(line)).map(([when, line, what, size]) => ({ at: c.get(when), line: c.get(line), what: size && c.get(size) != null ? `${what}, ${bytes(c.get(size))}` : what }));
  known.sort((a, b) => a.line - b.line);
  const start = known.find((e) => e.at != null)?.at;
  return known.map((e) => ({ ...e, since: e.at == null ? "" : about(e.at - start), cited: cite(side, e.line) }));
}

// ---- pictures

const margin = { top: 24, bottom: 4, left: 14, right: 18 };

// picture draws calls as rows: the client's lane, the gap, the server's lane. Each lane has an axis of its own.
function picture(list, options) {
  const { close = false, marks = [], label } = options;
  const rowHeight = close ? 76 : 22;
  const rows = list.length + (marks.length ? 1 : 0);
  const box = el("div", { class: close ? "picture close" : "picture" });
  if (!close) box.append(el("div", { class: "head" }, "call"));
  for (const side of [CLIENT, 0, SERVER]) {
    if (side === 0) box.append(el("div", { class: "head mid" }, "the gap"));
    else box.append(el("div", { class: "head" }, el("b", {}, `${sideName[side]}’s clock`)));
  }
  if (!close) box.append(rowLabels(list, marks, rowHeight));
  const panels = [CLIENT, 0, SERVER].map(() => el("div", { class: "panel" }));
  box.append(...panels);
  const draw = () => {
    const height = margin.top + margin.bottom + rows * rowHeight;
    panels.forEach((panel, k) => {
      const width = Math.max(40, panel.clientWidth);
      const frame = { width, height, rows, rowHeight, close };
      panel.replaceChildren(k === 1 ? gap(list, frame) : lane(list, [CLIENT, 0, SERVER][k], marks, frame, label));
    });
  };
  return { box, draw };
}

function rowLabels(list, marks, rowHeight) {
  const box = el("div", { class: "rows" });
  box.style.paddingTop = `${margin.top}px`;
  for (const c of list) {
    const asked = c.requester === SERVER ? " (asked by the server)" : "";
    const label = `${c.id} ${text(c.get("name")) || text(c.get("method"))}`;
    const b = el("button", { type: "button", class: c.state, "data-call": c.i, "aria-pressed": "false", title: c.tool + asked, "aria-label": `${label}, ${text(c.get("method"))}${asked}: ${[...new Set([c.state === "fine" ? "" : c.state, leafWords[c.leaf]])].filter(Boolean).join(", ")}` }, label);
    b.style.height = `${rowHeight}px`;
    box.append(b);
  }
  if (marks.length) {
    const s = el("span", {}, "stream");
    s.style.height = s.style.lineHeight = `${rowHeight}px`;
    box.append(s);
  }
  return box;
}

// finish makes a chart one image with a name, and hands clicks on a row on.
function finish(svg, name, list, frame) {
  svg.setAttribute("role", "img");
  for (const g of svg.querySelectorAll("g[aria-label]")) { // names that nobody can reach within an image
    g.setAttribute("data-mark", g.getAttribute("aria-label"));
    g.removeAttribute("aria-label");
  }
  svg.setAttribute("aria-label", name);
  if (frame) { // on paper a lane may be narrower than it was drawn for: its rows keep their height, as their names beside them do
    svg.setAttribute("preserveAspectRatio", "none");
    svg.style.height = `${frame.height}px`;
  }
  if (list) svg.addEventListener("click", (event) => {
    const c = list[Math.floor((event.clientY - svg.getBoundingClientRect().top - margin.top) / frame.rowHeight)];
    if (c && !frame.close) select(c.i, true);
  });
  return svg;
}

function base(frame, x, marks) {
  return Plot.plot({
    className: "chart", width: frame.width, height: frame.height,
    marginTop: margin.top, marginBottom: margin.bottom, marginLeft: x.axis ? margin.left : 4, marginRight: x.axis ? margin.right : 4,
    x: { ...x, axis: null }, y: { domain: [0, frame.rows], range: [margin.top, frame.height - margin.bottom], axis: null }, marks,
  });
}

// stripes show which row is chosen.
function stripes(list, domain) {
  return Plot.rect(list.filter((c) => c.i === chosen).map((c) => list.indexOf(c)), { x1: domain[0], x2: domain[1], y1: (i) => i, y2: (i) => i + 1, fill: "var(--mark)" });
}

function lane(list, side, marks, frame, label) {
  if (!BARE[side]) return el("p", { class: "none" }, `no log of the ${sideName[side]}`);
  let bars = [];
  const signs = [];
  list.forEach((c, i) => {
    for (const s of segments(c, side)) bars.push({ ...s, i, call: c });
    for (const s of instants(c, side)) signs.push({ ...s, y: i + 0.5 });
  });
  for (const m of marks) if (m.side === sideName[side] && m.at != null) {
    const [symbol, stroke] = kindsOfMark[m.kind];
    signs.push({ at: m.at, symbol, stroke, y: list.length + 0.5, title: [`${m.kind}, ${m.dir}`, m.text, cite(side, m.line)].filter(Boolean).join("\n") });
  }
  const times = [...bars.flatMap((b) => [b.a, b.b]), ...signs.map((s) => s.at)];
  if (!times.length) return el("p", { class: "none" }, list.some((c) => lines(c, side).length) ? `the ${sideName[side]}’s log tells no times` : frame.close ? `nothing of it in the ${sideName[side]}’s log` : `nothing of these in the ${sideName[side]}’s log`);
  const start = Math.min(...times), long = Math.max(...times) - start;
  const unit = frame.close && long < 1e10 ? 1e6 : 1e9; // milliseconds close by, seconds else
  const domain = [0, Math.max(frame.close ? 1e3 : 1e6, long) / unit];
  const thin = (domain[1] / Math.max(1, frame.width - margin.left - margin.right)) * 3; // three pixels
  for (const b of bars) {
    b.x1 = (b.a - start) / unit;
    b.x2 = Math.max((b.b - start) / unit, b.x1 + thin);
  }
  if (!frame.close) bars = withoutSlivers(bars, thin * unit);
  const inset = frame.close ? [0.28, 0.72] : [0.2, 0.8];
  const hits = [...bars.map((b) => ({ x: (b.x1 + b.x2) / 2, y: b.i + 0.5, title: b.title })), ...signs.map((s) => ({ x: (s.at - start) / unit, y: s.y, title: s.title }))];
  const suffix = unit === 1e6 ? " ms" : " s";
  const svg = base(frame, { domain, axis: true }, [
    stripes(frame.close ? [] : list, domain),
    Plot.gridX({ ticks: Math.max(2, frame.width / 90), stroke: "var(--line)", strokeOpacity: 1 }),
    Plot.axisX({ anchor: "top", ticks: Math.max(2, frame.width / 90), tickSize: 3, tickFormat: (d) => commas(d) + suffix, color: "var(--soft)", label: null }),
    Plot.rect(bars, { x1: "x1", x2: "x2", y1: (b) => b.i + inset[0], y2: (b) => b.i + inset[1], fill: (b) => colours[b.kind], fillOpacity: (b) => (b.kind === "open" ? 0.55 : 1), rx: 1.5 }),
    frame.close ? Plot.text(bars.filter((b) => b.x2 - b.x1 > domain[1] * 0.12), { x: (b) => (b.x1 + b.x2) / 2, y: (b) => b.i + 0.9, text: (b) => `${b.name} ${about(b.b - b.a)}`, fill: "var(--ink)", fontSize: 11, textOverflow: "ellipsis", lineWidth: Math.max(6, frame.width / 14) }) : null,
    Plot.dot(signs, { x: (s) => (s.at - start) / unit, y: "y", symbol: "symbol", stroke: "stroke", strokeWidth: 1.6, fill: (s) => (s.symbol === "times" ? "none" : s.stroke), r: frame.close ? 5 : 3.5 }),
    Plot.tip(hits, Plot.pointer({ x: "x", y: "y", title: "title", maxRadius: 30, lineWidth: 36, fontSize: 12, stroke: "var(--line)" })),
  ]);
  return finish(svg, `${label}: ${sideName[side]}’s lane, ${commas(domain[1])}${suffix} on the ${sideName[side]}’s clock`, list, frame);
}

// withoutSlivers keeps of a call that is too short to show its stages the longest one.
function withoutSlivers(bars, thin) {
  const whole = Map.groupBy(bars, (b) => b.call);
  return bars.filter((b) => {
    const all = whole.get(b.call);
    return all.at(-1).b - all[0].a > thin || b === all.reduce((m, s) => (s.b - s.a > m.b - m.a ? s : m));
  });
}

const colours = { bad: "var(--bad)", late: "var(--late)", wait: "var(--wait)", dispatch: "var(--dispatch)", handler: "var(--handler)", flush: "var(--flush)", open: "var(--open)", served: "var(--fine)" };

// arrows are what went through the gap: whole when it was read, to the middle when it was lost.
function arrows(c, i) {
  const [q1, q2, q3] = c.q, right = c.requester === CLIENT;
  const go = (forth, reach, y, kind, title) => ({ x1: forth === right ? 0.04 : 0.96, x2: forth === right ? 0.04 + 0.92 * reach : 0.96 - 0.92 * reach, y: i + y, kind, title });
  const out = [];
  const request = `request, ${bytes(c.get("request_bytes")) || "size not told"}`, answer = `answer, ${bytes(c.get("response_bytes")) || "size not told"}`;
  if (q1 === YES) out.push(go(true, 1, 0.28, "whole", `${request}: read`));
  else out.push(go(true, q1 === NO ? 0.5 : 0.7, 0.28, q1 === NO ? "lost" : "unsure", `${request}: ${q1 === NO ? "never read" : "not known whether it was read"}`));
  if (q3 === YES) out.push(go(false, 1, 0.72, c.stalled ? "late" : "whole", `${answer}: read`));
  else if (q2 === YES) out.push(go(false, q3 === NO ? 0.5 : 0.7, 0.72, q3 === NO ? "lost" : "unsure", `${answer}: written, ${q3 === NO ? "never read" : "not known whether it was read"}`));
  return out;
}

function gap(list, frame) {
  const all = list.flatMap(arrows);
  const stroke = { whole: "var(--soft)", late: "var(--late)", lost: "var(--bad)", unsure: "var(--late)" };
  const arrow = (kinds, dash) => Plot.arrow(all.filter((a) => kinds.includes(a.kind)), { x1: "x1", x2: "x2", y1: "y", y2: "y", stroke: (a) => stroke[a.kind], strokeOpacity: (a) => (a.kind === "whole" && !frame.close ? 0.55 : 1), strokeWidth: frame.close ? 2 : 1.3, strokeDasharray: dash, headLength: frame.close ? 7 : 5, insetEnd: 1 });
  const lost = all.filter((a) => a.kind === "lost");
  const svg = base(frame, { domain: [0, 1] }, [
    stripes(frame.close ? [] : list, [0, 1]),
    arrow(["whole", "late", "lost"]), arrow(["unsure"], "3,3"),
    Plot.dot(lost, { x: (a) => a.x2 + (a.x2 > a.x1 ? 0.09 : -0.09), y: "y", symbol: "times", stroke: "var(--bad)", strokeWidth: frame.close ? 2.5 : 1.8, r: frame.close ? 6 : 4 }),
    frame.close ? Plot.text(all, { x: 0.5, y: (a) => a.y - 0.18, text: (a) => a.title.split(",")[0], fill: "var(--soft)", fontSize: 11 }) : null,
    Plot.tip(all, Plot.pointer({ x: (a) => (a.x1 + a.x2) / 2, y: "y", title: "title", maxRadius: 40, lineWidth: 24, fontSize: 12, stroke: "var(--line)" })),
  ]);
  return finish(svg, lost.length ? `the gap: ${commas(lost.length)} lost in it` : "the gap: nothing lost in it", list, frame);
}

function legend() {
  const swatch = (colour, words, shape = "M0,2h12v8h-12z") => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("width", 13); svg.setAttribute("height", 12); svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", shape);
    path.style.fill = shape.includes("z") ? colour : "none"; path.style.stroke = colour; path.style.strokeWidth = shape.includes("z") ? 0 : 2;
    svg.append(path);
    return el("span", {}, svg, words);
  };
  $("legend").append(swatch(colours.wait, "waited, answered"), swatch(colours.bad, "waited in vain"), swatch(colours.late, "slow, or too late"), swatch(colours.dispatch, "dispatch"), swatch(colours.handler, "handler"), swatch(colours.flush, "flush"),
    swatch(colours.open, "never finished"), swatch("var(--bad)", "lost in the gap", "M0,6h6M7,3l5,6M12,3l-5,6"), swatch("var(--ink)", "cancel", "M2,2l8,8M10,2l-8,8"), swatch("var(--ink)", "answer read", "M6,2a4,4 0 1 0 .01,0z"), swatch("var(--bad)", "bad line", "M6,1l6,10h-12z"), swatch("var(--soft)", "stream ends", "M2,2h8v8h-8z"));
}

// ---- sessions

const drawn = []; // pictures to draw again when the width changes or another call is chosen
const rowsShown = 60, sessionsShown = 8;

function sessionCalls(k) {
  const all = bySession.get(k) ?? [];
  if (all.length <= rowsShown) return all;
  const trouble = all.filter((c) => c.state !== "fine").slice(0, rowsShown);
  const keep = new Set(trouble);
  for (const c of all) if (keep.size < rowsShown) keep.add(c);
  return all.filter((c) => keep.has(c));
}

const bySession = Map.groupBy(calls, (c) => c.session);
// Rows stand in the order of the client's log, calls that it does not have behind them in the server's: no clock orders both.
for (const list of bySession.values()) {
  const line = (c) => (c.requester === CLIENT ? c.get("sent_line") || c.get("answered_line") : c.get("read_line") || c.get("written_line"));
  list.sort((a, b) => !line(a) - !line(b) || line(a) - line(b) || a.i - b.i);
}

function showSession(k) {
  const list = sessionCalls(k), all = bySession.get(k) ?? [];
  const marks = data.marks.filter((m) => m.session === k);
  const stalled = all.filter((c) => c.stalled).length;
  const note = list.length < all.length ? `${commas(list.length)} of ${commas(all.length)} calls are drawn, those with a problem first` : `${commas(all.length)} ${all.length === 1 ? "call" : "calls"}`;
  const p = picture(list, { marks, label: `session ${sessionName(k)}` });
  $("pictures").append(el("h3", {}, sessionName(k)), el("p", { class: "hint" }, note + (stalled ? `, ${commas(stalled)} stalled` : "")), p.box);
  drawn.push(p);
  p.draw();
}

function sessions() {
  const order = [...bySession.keys()].sort((a, b) => bySession.get(b).some((c) => c.stalled) - bySession.get(a).some((c) => c.stalled) || a - b);
  if (!order.length) return;
  $("sessions").hidden = false;
  legend();
  if (order.length <= sessionsShown) return order.forEach(showSession);
  $("pick").hidden = false;
  for (const k of order.slice(0, 2000)) $("pick-session").append(el("option", { value: k }, `${sessionName(k)} (${commas(bySession.get(k).filter((c) => c.stalled).length)} stalled of ${commas(bySession.get(k).length)} listed)`));
  const pick = () => { $("pictures").replaceChildren(); drawn.splice(0); showSession(+$("pick-session").value); };
  $("pick-session").addEventListener("change", pick);
  pick();
}

// ---- one call

let chosen = -1, closeUp = null;

function facts(c) {
  const box = el("div", { class: "facts" });
  for (const side of [CLIENT, SERVER]) {
    const list = lines(c, side);
    if (!list.length) { box.append(el("p", { class: "hint" }, BARE[side] ? `The ${sideName[side]}’s log does not have it.` : `There is no log of the ${sideName[side]}.`)); continue; }
    const body = el("tbody");
    for (const e of list) body.append(el("tr", {}, el("td", { class: "num" }, e.since), el("td", {}, e.what), el("td", {}, el("code", {}, e.cited))));
    box.append(el("table", { class: "lines" }, el("caption", {}, `On the ${sideName[side]}’s clock`), body));
  }
  return box;
}

function stageSum(c) {
  const parts = [["dispatch", "read_at", "entered_at"], ["handler", "entered_at", "left_at"], ["flush", "left_at", "written_at"]].map(([name, a, b]) => [name, between(c.get(a), c.get(b))]);
  const known = parts.filter(([, d]) => d != null);
  if (!known.length) return "";
  const sum = known.map(([name, d]) => `${name} ${ms(d)}`).join(" + ");
  return c.served != null && known.length === 3 ? `${sum} = ${ms(c.served)}, residual ${ms(c.served - known.reduce((n, [, d]) => n + d, 0))}` : sum;
}

function why(c) {
  const list = el("ul");
  for (const [name, found, evidence] of c.get("causes")) {
    const none = text(name) === "none_can_be_told";
    const label = none ? el("span", { class: "cause candidate" }, "no cause can be told") : el("span", { class: `cause ${found ? "found" : "candidate"}` }, text(name), " ", el("small", {}, found ? "found" : "candidate"));
    list.append(el("li", {}, label, " ", evidence || "(mcpdiag join --id tells the evidence)"));
  }
  for (const n of c.get("notes")) list.append(el("li", {}, text(n)));
  return list;
}

function detail(c) {
  const asked = c.requester === SERVER ? ", asked by the server" : "";
  $("detail-head").textContent = `id ${c.id} ${c.tool}${asked}`;
  const p = picture([c], { close: true, label: `id ${c.id}` });
  closeUp = p;
  const follows = calls[c.get("follows")];
  const next = text(c.get("next"));
  const sum = stageSum(c);
  $("detail-body").replaceChildren(...[
    el("p", {}, el("strong", {}, text(c.get("verdict")).split(":")[0]), text(c.get("verdict")).replace(/^[^:]*/, "")),
    el("p", { class: "hint" }, `session ${sessionName(c.session)}` + (c.state === "fine" ? "" : `, ${c.state}`)),
    p.box,
    sum && el("p", {}, `${sideName[c.responder]}: ${sum}`),
    c.gaveUp != null && el("p", {}, `${sideName[c.requester]}: gave up after ${about(c.gaveUp)}`),
    facts(c),
    c.get("causes").length ? el("h3", {}, "Why") : null, why(c),
    follows && el("p", {}, "It is a casualty of ", el("button", { type: "button", "data-call": follows.i }, `id ${follows.id} ${follows.tool}`)),
    next && el("p", { class: "next" }, "→ " + next),
  ].filter(Boolean));
  $("detail").hidden = false;
  p.draw();
}

// select shows a call; go moves there, and leaves a way back.
function select(i, go) {
  const c = calls[i];
  if (!c) return;
  chosen = i;
  detail(c);
  for (const b of document.querySelectorAll(".rows button")) b.setAttribute("aria-pressed", String(+b.dataset.call === i));
  for (const p of drawn) p.draw();
  paint();
  if (go) {
    if (location.hash !== `#call-${i}`) history.pushState(null, "", `#call-${i}`);
    $("detail-head").focus({ preventScroll: true });
    $("detail").scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  }
}

document.addEventListener("click", (event) => {
  const b = event.target.closest("[data-call]");
  if (b) select(+b.dataset.call, true);
});
addEventListener("popstate", () => { const m = location.hash.match(/^#call-(\d+)$/); if (m) select(+m[1], false); });

// ---- figures by tool

const drawnFigures = [];

// toolName is what a call is counted under: the tool, else the method.
function toolName(method, name) { return name && ["tools/call", "prompts/get", ""].includes(method) ? name : method || name; }
const bare = (tool) => tool.replace(/^tools\/call /, "");
const axisWidth = (box) => Math.min(170, box.clientWidth * 0.38);
const shorten = (s) => (s.length > 24 ? s.slice(0, 23) + "…" : s);

function sizes() {
  const box = $("sizes-plot");
  const bracket = data.brackets.find((b) => b.frames === "responses" && b.reader === "client") ?? data.brackets[0];
  const few = data.complete && calls.length <= 3000;
  const mine = calls.filter((c) => c.requester === CLIENT && c.get("response_bytes") > 0);
  const read = few ? mine.filter((c) => c.q[2] === YES) : [];
  const lost = mine.filter((c) => c.stalled && c.leaf === "written_not_read").slice(0, 3000);
  const cells = few ? [] : data.sizes.filter((s) => s.requester === "client").flatMap((s) => s.buckets.filter((b) => b[2] > 0).map((b) => ({ tool: bare(s.tool), x1: b[0], x2: b[1], n: b[2] })));
  if (!read.length && !lost.length && !cells.length) return;
  $("sizes").hidden = false;
  const tool = (c) => toolName(text(c.get("method")), text(c.get("name")));
  const tools = [...new Set([...lost.map(tool), ...cells.map((c) => c.tool), ...read.map(tool)])].slice(0, 30);
  const largest = new Map();
  for (const c of [...lost, ...read]) largest.set(tool(c), Math.max(largest.get(tool(c)) ?? 0, c.get("response_bytes")));
  tools.sort((a, b) => (largest.get(b) ?? 0) - (largest.get(a) ?? 0));
  const there = (t) => tools.includes(t);
  const most = Math.max(1, ...cells.map((c) => c.n));
  $("sizes-words").textContent = sizeWords(bracket);
  const hits = [...lost.map((c) => ({ c, x: c.get("response_bytes"), y: tool(c), title: `id ${c.id}: ${bytes(c.get("response_bytes"))}, lost\n${cite(SERVER, c.get("written_line"))}` })),
    ...read.map((c) => ({ c, x: c.get("response_bytes"), y: tool(c), title: `id ${c.id}: ${bytes(c.get("response_bytes"))}, read\n${c.firstLine}` })),
    ...cells.map((c) => ({ x: Math.sqrt(c.x1 * c.x2), y: c.tool, title: `${commas(c.n)} read, ${commas(Math.ceil(c.x1))} to ${commas(Math.floor(c.x2))} B` }))].filter((h) => there(h.y));
  const state = bracket && bracket.state === "bracket" && bracket.low;
  const draw = () => {
    const svg = Plot.plot({
      className: "chart", width: box.clientWidth, height: 70 + 26 * tools.length, marginLeft: axisWidth(box), marginTop: 26, marginBottom: 42, marginRight: 16,
      x: { type: "log", label: "bytes of the answer", labelAnchor: "center", tickFormat: (d) => (d >= 1e6 ? `${d / 1e6} MB` : d >= 1e3 ? `${d / 1e3} kB` : `${d} B`), ticks: box.clientWidth / 90, nice: true }, y: { domain: tools, label: null, tickFormat: shorten, type: "band", padding: 0.3 },
      marks: [
        state ? Plot.rect([bracket], { x1: "low", x2: "high", fill: "var(--band)" }) : null,
        state ? Plot.ruleX(bracket.known_ceilings, { x: "bytes", stroke: "var(--bad)", strokeDasharray: "4,3" }) : null,
        state ? Plot.text(bracket.known_ceilings.slice(0, 1), { x: "bytes", text: (k) => bytes(k.bytes), frameAnchor: "top", dy: -14, fill: "var(--bad)" }) : null,
        Plot.rect(cells.filter((c) => there(c.tool)), { x1: "x1", x2: "x2", y: "tool", fill: "var(--handler)", fillOpacity: (c) => 0.15 + 0.85 * (Math.log1p(c.n) / Math.log1p(most)), insetLeft: 0.5, insetRight: 0.5 }),
        Plot.dot(read.filter((c) => there(tool(c))), { x: (c) => c.get("response_bytes"), y: tool, r: 3.5, fill: "var(--handler)", fillOpacity: 0.55 }),
        Plot.dot(lost.filter((c) => there(tool(c))), { x: (c) => c.get("response_bytes"), y: tool, symbol: "times", r: 5, stroke: "var(--bad)", strokeWidth: 2.2, strokeOpacity: lost.length > 200 ? 0.35 : 1 }),
        Plot.tip(hits, Plot.pointer({ x: "x", y: "y", title: "title", fontSize: 12, maxRadius: 30, stroke: "var(--line)" })),
      ],
    });
    svg.addEventListener("click", () => { if (svg.value?.c) select(svg.value.c.i, true); });
    box.replaceChildren(finish(svg, `Answers by tool and size: ${commas(lost.length)} lost. ${sizeWords(bracket)}`));
  };
  drawnFigures.push(draw);
}

function sizeWords(b) {
  const states = { one_log: "A loss shows only between two logs.", nothing_lost: "No answer was lost.", sizes_cross: "Larger answers were read than some that were lost: no ceiling.", unsized: "Answers were lost, and no log tells their size." };
  if (!b) return "";
  if (b.state !== "bracket") return states[b.state] ?? "";
  const known = b.known_ceilings.map((k) => `${bytes(k.bytes)} (${k.of})`).join(", ");
  const low = b.low ? `Every answer up to ${bytes(b.low)} was read, every` : "No answer was read; every";
  return `${low} one from ${bytes(b.high)} was lost.` + (known && b.low ? ` Between them lies ${known}.` : "") + " A cross is a lost answer.";
}

function service() {
  const box = $("service-plot");
  const list = data.service.filter((s) => s.n || s.open).sort((a, b) => b.open - a.open || (b.max ?? 0) - (a.max ?? 0)).slice(0, 30);
  if (!list.some((s) => s.max != null || s.least != null)) return;
  $("service").hidden = false;
  const name = (s) => (s.side === "client" ? `${bare(s.tool)} (client)` : bare(s.tool));
  const floor = (v) => Math.max(v, 0.001);
  const timed = list.filter((s) => s.max != null), open = list.filter((s) => s.least != null);
  const one = (v) => ms(v * 1e6);
  const hits = [...timed.map((s) => ({ x: floor(s.p50), y: name(s), title: `${commas(s.n)} calls\nmedian ${one(s.p50)}\n95th percentile ${one(s.p95)}\nlongest ${one(s.max)}` })),
    ...open.map((s) => ({ x: floor(s.least), y: name(s), title: `${commas(s.open)} never left, one for at least ${one(s.least)}` }))];
  const draw = () => {
    const svg = Plot.plot({
      className: "chart", width: box.clientWidth, height: 52 + 26 * list.length, marginLeft: axisWidth(box), marginTop: 8, marginBottom: 42, marginRight: 24,
      x: { type: "log", label: "time in the handler", labelAnchor: "center", tickFormat: (d) => (d >= 1000 ? `${d / 1000} s` : `${d} ms`), ticks: box.clientWidth / 110, nice: true }, y: { domain: list.map(name), label: null, tickFormat: shorten, type: "band", padding: 0.3 },
      marks: [
        Plot.gridX({ ticks: box.clientWidth / 110, stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.link(timed, { x1: (s) => floor(s.p50), x2: (s) => floor(s.max), y: name, stroke: "var(--handler)", strokeWidth: 3, strokeOpacity: 0.5 }),
        Plot.dot(timed, { x: (s) => floor(s.p50), y: name, r: 4.5, fill: "var(--handler)" }),
        Plot.tickX(timed, { x: (s) => floor(s.p95), y: name, stroke: "var(--handler)", strokeWidth: 2 }),
        Plot.tickX(timed, { x: (s) => floor(s.max), y: name, stroke: "var(--late)", strokeWidth: 2 }),
        Plot.arrow(open, { x1: (s) => floor(s.least) / 2, x2: (s) => floor(s.least), y: name, stroke: "var(--open)", strokeWidth: 2.2, headLength: 6 }),
        Plot.tip(hits, Plot.pointer({ x: "x", y: "y", title: "title", fontSize: 12, maxRadius: 40, stroke: "var(--line)" })),
      ],
    });
    box.replaceChildren(finish(svg, `Time in the handler by tool, ${list.length} tools`));
  };
  drawnFigures.push(draw);
}

// ---- the table of calls: only the rows in view are in the document

const table = [
  { name: "id", width: "13%", cell: (c) => el("button", { type: "button", "data-call": c.i }, c.id), key: (c) => (/^\d{1,15}$/.test(c.id) ? +c.id : c.id) },
  { name: "call", width: "26%", cell: (c) => c.tool, key: (c) => c.tool },
  { name: "session", width: "15%", wide: true, cell: (c) => sessionName(c.session), key: (c) => sessionName(c.session) },
  { name: "stopped at", width: "19%", cell: (c) => el("span", { class: `is-${c.state}` }, (c.state === "fine" || c.state === "no leaf" ? "" : c.state + ": ") + leafWords[c.leaf]), key: (c) => `${["stalled", "slow", "quiet", "no leaf", "fine"].indexOf(c.state)} ${c.leaf}` },
  { name: "waited", width: "12%", num: true, cell: (c) => about(c.waited ?? c.gaveUp), key: (c) => c.waited ?? c.gaveUp },
  { name: "served in", width: "12%", num: true, wide: true, cell: (c) => about(c.served), key: (c) => c.served },
  { name: "answer", width: "11%", num: true, wide: true, cell: (c) => bytes(c.get("response_bytes")), key: (c) => c.get("response_bytes") },
  { name: "cause", width: "16%", wide: true, cell: (c) => c.cause, key: (c) => c.cause },
  { name: "line", width: "14%", wide: true, cell: (c) => c.firstLine, key: (c) => c.get("sent_line") || c.get("read_line") },
];
const rowHeight = 30;
let shown = calls, sortBy = null, descending = false, firstRow = -1;

function head() {
  const tr = document.querySelector("#calls thead tr");
  for (const column of table) {
    const th = el("th", { scope: "col", class: [column.num && "num", column.wide && "wide"].filter(Boolean).join(" ") }, el("button", { type: "button" }, column.name));
    th.style.width = column.width;
    th.firstChild.addEventListener("click", () => sort(column));
    column.th = th;
    tr.append(th);
  }
  $("calls").setAttribute("aria-rowcount", calls.length + 1);
}

// sort orders by a column; what is not known stands last either way.
function sort(column) {
  descending = sortBy === column ? !descending : !!column.num;
  sortBy = column;
  for (const c of table) c.th.removeAttribute("aria-sort");
  column.th.setAttribute("aria-sort", descending ? "descending" : "ascending");
  filter();
}

function ordered(list) {
  if (!sortBy) return list;
  const keyed = list.map((c) => [sortBy.key(c), c]);
  keyed.sort(([a], [b]) => {
    if (a == null || b == null) return (a == null) - (b == null);
    const order = typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
    return descending ? -order : order;
  });
  return keyed.map(([, c]) => c);
}

function filter() {
  const words = $("find").value.toLowerCase().split(/\s+/).filter(Boolean), want = $("show").value;
  const passes = { all: () => true, stalled: (c) => c.stalled, problem: (c) => c.stalled || c.slow || c.quiet }[want] ?? ((c) => c.leaf === want);
  shown = ordered(calls.filter((c) => passes(c) && words.every((w) => c.haystack.includes(w))));
  $("shown").textContent = `${commas(shown.length)} of ${commas(calls.length)}`;
  $("scroll").scrollTop = 0;
  firstRow = -1;
  paint(true);
}

function row(c, k) {
  const tr = el("tr", { class: "row", "aria-rowindex": k + 2, "aria-selected": c.i === chosen ? "true" : null });
  for (const column of table) tr.append(el("td", { class: [column.num && "num", column.wide && "wide"].filter(Boolean).join(" ") || null }, column.cell(c)));
  return tr;
}

function pad(height) {
  const td = el("td", { class: "pad", colspan: table.length }), tr = el("tr", { "aria-hidden": "true" }, td);
  tr.style.height = td.style.height = `${height}px`;
  return tr;
}

function paint(force = true, all = 0) {
  const box = $("scroll");
  const from = all ? 0 : Math.max(0, Math.min(shown.length, Math.floor(box.scrollTop / rowHeight)) - 8);
  if (!force && Math.abs(from - firstRow) < 4) return;
  firstRow = from;
  const to = Math.min(shown.length, all || from + Math.ceil(box.clientHeight / rowHeight) + 24);
  const kept = document.activeElement?.closest?.("#calls tbody [data-call]")?.dataset.call;
  const body = document.querySelector("#calls tbody");
  body.replaceChildren(...[from > 0 && pad(from * rowHeight), ...shown.slice(from, to).map((c, k) => row(c, from + k)), to < shown.length && !all && pad((shown.length - to) * rowHeight)].filter(Boolean));
  if (kept) body.querySelector(`[data-call="${kept}"]`)?.focus({ preventScroll: true });
}

// ---- start

head();
$("filter").addEventListener("submit", (event) => event.preventDefault());
let typing;
$("find").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(filter, calls.length > 20000 ? 150 : 0); });
$("show").addEventListener("change", filter);
$("scroll").addEventListener("scroll", () => paint(false), { passive: true });
addEventListener("beforeprint", () => paint(true, 500));
addEventListener("afterprint", () => paint(true));
let width = innerWidth, resizing;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  clearTimeout(resizing);
  resizing = setTimeout(() => { for (const p of drawn) p.draw(); closeUp?.draw(); drawnFigures.forEach((f) => f()); paint(true); }, 80);
});
const asked = location.hash.match(/^#call-(\d+)$/);
const first = document.querySelector(".kinds [data-call]");
sessions();
sizes();
service();
drawnFigures.forEach((draw) => draw()); // once both are there, since they share the width
filter();
if (asked) select(+asked[1], false);
else if (first) select(+first.dataset.call, false);
document.documentElement.dataset.ready = "yes";
})();
