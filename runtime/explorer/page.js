"use strict";
let data = null, machine = { llvm: [], llvmOps: [], asm: [], asmLines: [] };
async function unpacked(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}
const NONE = [], HEIGHT = 18, MARGIN = 12, STATES = ["", "added", "changed", "removed"];
const $ = (id) => document.getElementById(id);
const escaped = (text) => text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

// ---- colours of words: one pattern for each pane, the first group that matches names the class
const WORDS = {
  source: [/(#.*)|("[^"]*"|'[^']*')|\b(kernel|fn|let|var|const|import|extern|return|if|else|for|in|while|def|lambda|and|or|not|from|as|True|False|None|true|false)\b|\b(\d[\d_.eE]*)\b/g,
    ["c", "n", "k", "n"]],
  ir: [/(%[\w#]+)|\b(region|loop|each|return|gives)\b|\b(\d[\d.eE+-]*)\b/g, ["v", "k", "n"]],
  llvm: [/(;.*)|(%[\w.]+|@[\w.]+)|\b(define|declare|internal|ret|br|label|phi|load|store|call|getelementptr|select|fadd|fsub|fmul|fdiv|fcmp|icmp|add|sub|mul|shl|and|or|xor|musttail|bitcast|splat)\b|\b(0x[0-9A-F]+|\d+)\b/g,
    ["c", "v", "k", "n"]],
  asm: [/^(\S+:)|^\s+([a-z]\S*)|(%[a-z]\w*)|(\$-?\w+)/g, ["k", "k", "v", "n"]],
};
function words(kind, text) {
  const [pattern, classes] = WORDS[kind];
  let html = "", at = 0;
  for (const found of text.matchAll(pattern)) {
    const group = found.slice(1).findIndex((x) => x !== undefined);
    const word = found[group + 1], start = found.index + found[0].indexOf(word);
    html += escaped(text.slice(at, start)) + `<span class="${classes[group]}">${escaped(word)}</span>`;
    at = start + word.length;
  }
  return html + escaped(text.slice(at));
}

// ---- panes: only the lines in view are in the document
const hue = (op) => `hsl(${(op * 47 + 210) % 360} 55% 55%)`;
const panes = {};
class Pane {
  constructor(kind) {
    this.kind = kind;
    this.scroll = document.querySelector(`#${kind} .scroll`);
    this.size = this.scroll.querySelector(".size");
    this.lines = this.scroll.querySelector(".lines");
    this.ticks = document.querySelector(`#${kind} canvas`);
    this.rows = []; this.of = new Map();
    this.lit = new Set(); this.exact = new Set(); this.found = new Set();
    this.scroll.addEventListener("scroll", () => this.draw(), { passive: true });
    this.scroll.addEventListener("pointermove", (e) => hover(this, e));
    this.scroll.addEventListener("pointerleave", () => hover(this, null));
    this.scroll.addEventListener("click", (e) => pin(this, e));
    new ResizeObserver(() => { this.draw(); this.mark(); }).observe(this.scroll);
    panes[kind] = this;
  }
  fill(rows) {
    this.rows = rows;
    this.size.style.height = `${rows.length * HEIGHT + 8}px`;
    $(this.kind).style.setProperty("--rows", rows.length);
    this.of = new Map();
    rows.forEach((row, i) => row.ops.forEach((op) => {
      if (!this.of.has(op)) this.of.set(op, []);
      this.of.get(op).push(i);
    }));
    this.draw(); this.mark();
  }
  draw() {
    const first = Math.max(0, Math.floor(this.scroll.scrollTop / HEIGHT) - MARGIN);
    const last = Math.min(this.rows.length, first + Math.ceil(this.scroll.clientHeight / HEIGHT) + 2 * MARGIN);
    let html = "";
    for (let i = first; i < last; i++) {
      const row = this.rows[i];
      const tint = row.ops.length ? ` style="border-color:${hue(row.ops[0])}"` : "";
      const attrs = row.attrs ? `  <i>${escaped(row.attrs)}</i>` : "";
      const title = row.was ? ` title="before: ${escaped(row.was).replace(/"/g, "&quot;")}"` : "";
      html += `<div class="l" data-i="${i}"${tint}${title}><span class="no">${row.no ?? ""}</span>`
        + `<span class="tx">${words(this.kind, row.text)}${attrs}</span></div>`;
    }
    this.lines.style.top = `${first * HEIGHT}px`;
    this.lines.innerHTML = html;
    this.paint();
  }
  // Set the classes of the lines in view. The lines stay, so that the pointer stays on them.
  paint() {
    for (const line of this.lines.children) {
      const i = Number(line.dataset.i), is_lit = this.lit.has(i);
      line.className = `l ${STATES[this.rows[i].state || 0]}${this.found.has(i) ? " found" : ""}`
        + `${is_lit ? " lit" : ""}${this.exact.has(i) ? " exact" : ""}`;
      for (const old of line.querySelectorAll(".under")) old.remove();
      for (const [at, start, length] of (is_lit && this.under) || NONE) if (at === i)
        line.lastElementChild.insertAdjacentHTML("beforeend",
          `<span class="under" style="left:${start}ch;width:${length}ch"></span>`);
    }
  }
  mark() {
    const canvas = this.ticks, box = canvas.getBoundingClientRect();
    canvas.width = 9; canvas.height = Math.max(1, box.height);
    const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    for (const [set, name] of [[this.found, "--accent"], [this.lit, "--change-ink"]]) {
      pen.fillStyle = style.getPropertyValue(name);
      for (const i of set) pen.fillRect(1, Math.floor((i / Math.max(1, this.rows.length)) * canvas.height), 7, 2);
    }
  }
  show(i) {
    const top = i * HEIGHT, view = this.scroll;
    if (top < view.scrollTop || top > view.scrollTop + view.clientHeight - 2 * HEIGHT)
      view.scrollTop = Math.max(0, top - view.clientHeight / 3);
  }
}

// ---- kin: the operations of a line, and the lines of operations
function withKin(ops) {
  const all = new Set();
  for (const op of ops) { all.add(op); for (const other of data.kin[op] || []) all.add(other); }
  return all;
}
let pinned = null, hovered = null;
function light(pane, i) {
  for (const each of Object.values(panes)) { each.lit = new Set(); each.exact = new Set(); }
  const row = pane && pane.rows[i];
  if (row) {
    const ops = withKin(row.ops);
    for (const each of Object.values(panes))
      for (const op of ops) for (const line of each.of.get(op) || []) each.lit.add(line);
    pane.lit.add(i); pane.exact.add(i);
    if (pane.kind === "llvm") machine.asmLines.forEach((line, k) => line === i && panes.asm.exact.add(k) && panes.asm.lit.add(k));
    if (pane.kind === "asm" && machine.asmLines[i] >= 0) {
      panes.llvm.exact.add(machine.asmLines[i]); panes.llvm.lit.add(machine.asmLines[i]);
    }
    panes.source.under = pane.kind === "source" ? null : row.ops.map((op) => data.spans[op]).filter(Boolean);
    lightGraph(ops);
  } else lightGraph(new Set());
  for (const each of Object.values(panes)) { each.paint(); each.mark(); }
}
function lineOf(pane, event) {
  if (!event) return -1;
  const i = Math.floor((event.clientY - pane.size.getBoundingClientRect().top) / HEIGHT);
  return i >= 0 && i < pane.rows.length ? i : -1;
}
function hover(pane, event) {
  if (pinned) return;
  const i = lineOf(pane, event), key = i < 0 ? null : `${pane.kind} ${i}`;
  if (key === hovered || (!key && !(hovered || "").startsWith(pane.kind))) return;
  hovered = key;
  light(i < 0 ? null : pane, i);
}
function pin(pane, event) {
  const i = lineOf(pane, event), key = `${pane.kind} ${i}`;
  pinned = i < 0 || pinned === key ? null : key;
  light(i < 0 ? null : pane, i);
  if (!pinned) return;
  for (const each of Object.values(panes)) if (each !== pane && each.lit.size) each.show(Math.min(...each.lit));
}

// ---- passes
let current = 0;
function rowsOf(k) {
  while (data.passes[k].lines === null) k -= 1;
  return data.passes[k].lines;
}
function choose(k) {
  current = k;
  const pass = data.passes[k], is_same = pass.lines === null;
  document.querySelectorAll(".passes button").forEach((b, i) => b.setAttribute("aria-current", String(i === k)));
  let number = 0;
  panes.ir.fill(rowsOf(k).filter((line) => !is_same || line[4] !== 3).map(([depth, op, text, attrs, state, was]) => ({
    text: "  ".repeat(depth) + text, attrs, ops: op < 0 ? [] : [op], state: is_same ? 0 : state, was: is_same ? "" : was,
    no: state === 3 ? "−" : state === 1 && !is_same ? "+" : (number += 1) })));
  document.querySelector("#ir h2 small").textContent = k ? `after ${pass.name}` : "as it was built";
  if (is_found) search();
  hovered = pinned = null; light(null, -1);
}

// ---- search
let matches = [], at = -1, is_found = false;
function search() {
  const wanted = $("find").value.toLowerCase();
  matches = []; at = -1; is_found = wanted !== "";
  for (const pane of Object.values(panes)) {
    pane.found = new Set();
    if (wanted) pane.rows.forEach((row, i) => {
      if (row.text.toLowerCase().includes(wanted)) { pane.found.add(i); matches.push([pane, i]); }
    });
    if (pane.found.size) pane.show(Math.min(...pane.found));
    pane.draw(); pane.mark();
  }
  $("count").textContent = wanted ? `${matches.length} ${matches.length === 1 ? "line" : "lines"}` : "";
}
function step(by) {
  if (!matches.length) return;
  at = (at + by + matches.length) % matches.length;
  const [pane, i] = matches[at];
  pane.exact = new Set([i]); pane.show(i); pane.draw();
  $("count").textContent = `${at + 1} of ${matches.length}`;
}

// ---- tabs, the graph (filled when it is opened), and the theme
function lightGraph(ops) {
  document.querySelectorAll("#graph g[data-op]").forEach((g) => g.classList.toggle("lit", ops.has(Number(g.dataset.op))));
}
function open(tab) {
  for (const name of ["code", "graph", "cost"]) {
    $(name).hidden = name !== tab;
    $(`tab-${name}`).setAttribute("aria-selected", String(name === tab));
  }
  if (tab === "graph" && !document.querySelector("#graph svg")) $("graph").append($("drawn").content.cloneNode(true));
}
function theme(name) {
  document.documentElement.dataset.theme = name;
  $("theme").textContent = name === "dark" ? "Light" : "Dark";
  for (const pane of Object.values(panes)) pane.mark();
}

for (const kind of ["source", "ir", "llvm", "asm"]) new Pane(kind);
document.querySelectorAll(".passes button").forEach((b, k) => b.addEventListener("click", () => choose(k)));
document.querySelector(".passes").addEventListener("keydown", (e) => {
  const by = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 }[e.key];
  const next = current + by;
  if (!by || next < 0 || next >= data.passes.length) return;
  e.preventDefault(); choose(next); document.querySelectorAll(".passes button")[next].focus();
});
$("find").addEventListener("input", search);
$("find").addEventListener("keydown", (e) => { if (e.key === "Enter") step(e.shiftKey ? -1 : 1); });
$("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
for (const name of ["code", "graph", "cost"]) $(`tab-${name}`).addEventListener("click", () => open(name));
$("graph").addEventListener("click", (e) => {
  const found = e.target.closest("g[data-op]");
  if (!found) return;
  const i = (panes.ir.of.get(Number(found.dataset.op)) || [-1])[0];
  if (i < 0) return;
  open("code"); pinned = `ir ${i}`; light(panes.ir, i);
  for (const each of Object.values(panes)) if (each.lit.size) each.show(Math.min(...each.lit));
});
document.addEventListener("keydown", (e) => {
  if (e.key === "Escape") { pinned = hovered = null; light(null, -1); $("find").value = ""; search(); }
  if (e.key === "/" && document.activeElement !== $("find")) { e.preventDefault(); $("find").focus(); }
});
$("fit").addEventListener("click", () => {
  $("fit").textContent = $("graph").classList.toggle("fit") ? "Actual size" : "Fit to the window";
});
theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

// The large panes come second: the source and the passes can be read while LLVM and assembly are unpacked.
async function begin() {
  data = await unpacked("data");
  panes.source.fill(data.source);
  choose(data.first);
  const start = panes.source.rows.findIndex((row) => row.ops.length);
  if (start > 0) panes.source.show(start);
  document.documentElement.dataset.ready = "source";
  await new Promise(requestAnimationFrame);
  machine = await unpacked("machine");
  const kin = (op) => (op < 0 ? NONE : [op]);
  panes.llvm.fill(machine.llvm.map((text, i) => ({ text, no: i + 1, ops: kin(machine.llvmOps[i]) })));
  panes.asm.fill(machine.asm.map((text, i) => {
    const line = machine.asmLines[i];
    return { text, no: i + 1, ops: kin(line < 0 ? -1 : machine.llvmOps[line]) };
  }));
  document.documentElement.dataset.ready = "true";
}
begin();
