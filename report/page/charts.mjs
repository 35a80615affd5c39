// The part of Observable Plot that page.js draws with. make charts bundles it into plot.js.
export { arrow, axisX, axisY, dot, gridX, link, plot, pointer, rect, ruleX, ruleY, text, tickX, tip } from "@observablehq/plot";
