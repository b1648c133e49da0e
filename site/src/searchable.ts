/** The parts of a renderer of markdown-it that are used here. */
interface Renderer {
  set(options: { highlight: null }): void;
  render(markdown: string, env: object): string;
}

/** Headings that most pages of the API reference have. */
const GENERIC =
  /^(?:Call Signature|Classes|Constructors?|Default Value|Example|Extended by|Extends|Functions|Implementation of|Implements|Inherited from|Interfaces|Methods|Namespaces|Overrides|Parameters|Properties|References|Returns|Throws|Type Aliases|Type Declaration|Type Parameters|Variables)$/;

/** The HTML that the search divides into sections by its headings. */
export function searchable(markdown: string, env: { relativePath: string }, renderer: Renderer): string {
  // This renderer is only for the search, which doesn't need colors of code.
  renderer.set({ highlight: null });
  const html = renderer.render(markdown, env);
  return env.relativePath.startsWith('docs/api/') ? outlineOf(html) : withOptions(html);
}

/** A section for each row of a table of options. */
function withOptions(html: string): string {
  return html.replaceAll(
    /<tr id="([^"]+)">\s*<td[^>]*><code>(.*?)<\/code>/g,
    (row, id: string, name: string) => `<h3>${name}<a href="#${id}"></a></h3>${row}`,
  );
}

/** The names of a page of the API reference, each with the first paragraph about it. */
function outlineOf(html: string): string {
  const [, ...sections] = html.split(/(?=<h[1-6][ >])/);
  return sections
    .filter((section) => !GENERIC.test(textOf(/<h\d[^>]*>(.*?)<a/s.exec(section)?.[1] ?? '')))
    .map((section) => {
      const [heading = ''] = /<h(\d).*?<\/h\1>/s.exec(section) ?? [];
      const [paragraph = ' '] = /<p>.*?<\/p>/s.exec(section) ?? [];
      return `${heading}${paragraph}`;
    })
    .join('');
}

function textOf(html: string): string {
  return html.replaceAll(/<[^>]+>/g, '').trim();
}
