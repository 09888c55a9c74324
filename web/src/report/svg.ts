/** Drawings as pictures of their own: styles are written into the elements, colours are those on the page. */

/** What a drawing takes from style sheets; everything else stands in its attributes. */
const kStyles = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-opacity",
  "stroke-linejoin",
  "paint-order",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
];
const kNamespace = "http://www.w3.org/2000/svg";

/** A copy of a drawing that needs no style sheet. Hidden parts are left out. */
export function styled_copy(drawing: SVGElement): SVGElement {
  const copy = drawing.cloneNode(true) as SVGElement;
  const copies = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  const hidden: SVGElement[] = [];
  [drawing, ...drawing.querySelectorAll<SVGElement>("*")].forEach((original, index) => {
    const target = copies[index]!;
    const style = getComputedStyle(original);
    if (style.display === "none" || style.visibility === "hidden") hidden.push(target);
    for (const name of kStyles) {
      const value = style.getPropertyValue(name);
      if (value !== "" && value !== initial_value(name)) target.setAttribute(name, value);
    }
    target.removeAttribute("class");
    target.removeAttribute("style");
  });
  for (const element of hidden) element.remove();
  return copy;
}

/** Left out to keep the file small. */
function initial_value(name: string): string | undefined {
  if (name === "paint-order") return "normal";
  if (name === "stroke-linejoin") return "miter";
  if (name === "stroke" || name === "stroke-dasharray") return "none";
  return /opacity$/.test(name) ? "1" : undefined;
}

export function svg_element(
  name: string,
  attributes: Record<string, string | number>,
  ...content: (Node | string)[]
): SVGElement {
  const element = document.createElementNS(kNamespace, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...content);
  return element;
}

/** The text of a file. */
export function svg_text(picture: SVGElement): string {
  // lit's markers mean nothing outside the page.
  const comments = document.createTreeWalker(picture, NodeFilter.SHOW_COMMENT);
  const found: Node[] = [];
  while (comments.nextNode()) found.push(comments.currentNode);
  for (const comment of found) comment.parentNode?.removeChild(comment);
  return `${new XMLSerializer().serializeToString(picture)}\n`;
}

/** The same in pixels. `scale` is pixels for one unit of the picture. */
export async function png_of(picture: SVGElement, scale: number): Promise<Blob> {
  const image = new Image();
  // A data address is what the page's policy allows.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg_text(picture))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(image.naturalWidth * scale);
  canvas.height = Math.round(image.naturalHeight * scale);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, failed) =>
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("no picture"))), "image/png"),
  );
}
