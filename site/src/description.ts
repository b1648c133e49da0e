const LONGEST = 160;

/** The first sentences of a page's first paragraph, for search engines; undefined if it starts with none. */
export function descriptionOf(markdown: string): string | undefined {
  const paragraphs = markdown
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .split(/\n{2,}/);
  const first = paragraphs.find((text) => /^[\w`@*[]/.test(text.trim()) && !text.trim().startsWith('- '));
  if (first === undefined) return undefined;
  const plain = first
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]|<[^>]+>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (plain.length <= LONGEST) return plain;
  const sentences = plain.slice(0, LONGEST + 1);
  const end = sentences.lastIndexOf('. ');
  return end > LONGEST / 2 ? plain.slice(0, end + 1) : `${plain.slice(0, sentences.lastIndexOf(' '))} …`;
}
