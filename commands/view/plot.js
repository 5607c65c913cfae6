// A line across the plot, and the figures of its moment: under the pointer, or by the arrow keys.
"use strict";

const drawing = find(".plot svg");

if (drawing) {
  const across = drawing.dataset.at.split(" ").map(Number);
  const hair = drawing.querySelector(".hair");
  const heads = [...document.querySelectorAll(".statistics th")].map((head) => head.textContent);
  const rows = [...document.querySelectorAll(".statistics tbody tr")].reverse(); // the newest stands first
  const last = across.length - 1;
  let at = last;

  const mark = (wanted) => {
    at = Math.min(Math.max(wanted, 0), last);
    hair.setAttribute("transform", `translate(${across[at]} 0)`);
    hair.setAttribute("visibility", "visible");
    const [day, ...figures] = [...rows[at].cells].map((cell) => cell.textContent);
    // The first two are drawn; all of them stand in the table.
    find("#told").textContent = `${day}: ${heads[1]} ${figures[0]}, ${heads[2]} ${figures[1]}`;
  };
  const leave = () => {
    hair.setAttribute("visibility", "hidden");
    find("#told").textContent = "";
  };

  drawing.addEventListener("pointermove", ({ clientX }) => {
    const { left, width } = drawing.getBoundingClientRect();
    const place = ((clientX - left) / width) * drawing.viewBox.baseVal.width;
    mark(across.findLastIndex((x) => x <= place));
  });
  drawing.addEventListener("pointerleave", leave);
  drawing.addEventListener("focus", () => mark(at));
  drawing.addEventListener("blur", leave);
  drawing.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
    if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey) return;
    mark(steps[event.key]);
    event.preventDefault();
  });
}
