// Elements. Data reaches the page as text nodes and attributes only: never as HTML.

export type Child = Node | string | null;
type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** An element with attributes and children. `true` sets an empty attribute; `false` and undefined set none. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/** Sets the text if it has changed, so that the browser and screen readers see no needless change. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** A text that may be long or strange, cut to one line; the whole is in its title. */
export function setCut(element: HTMLElement, text: string): void {
  setText(element, text);
  if (element.title !== text) element.title = text;
}

export function button(
  label: string,
  onClick: () => unknown,
  look: 'plain' | 'primary' | 'danger' | 'small' = 'plain',
): HTMLButtonElement {
  const element = h('button', { type: 'button', class: `button ${look}` }, label);
  element.addEventListener('click', onClick);
  return element;
}

let ids = 0;

/** An id for `for` and `aria-labelledby`. */
export function newId(): string {
  ids++;
  return `w${String(ids)}`;
}

/** A link that opens in a new tab: leaving the page would lose what it shows. */
export function link(href: string, text: string): HTMLAnchorElement {
  return h('a', { href, target: '_blank', rel: 'noopener noreferrer' }, text);
}

/** A part of the page with a heading. */
export function card(title: string, ...children: readonly Child[]): HTMLElement {
  const id = newId();
  return h(
    'section',
    { class: 'card', 'aria-labelledby': id },
    h('header', { class: 'card-head' }, h('h2', { id }, title)),
    ...children,
  );
}

/** Adds controls or a note beside the heading of a {@link card}. */
export function addToHead(element: HTMLElement, ...children: readonly Child[]): void {
  const head = element.firstElementChild;
  for (const child of children) if (child !== null) head?.append(child);
}
