/**
 * The same tables without the spaces and dashes that align them: half of a page such as docs/senders.md.
 *
 * @param {string} markdown
 */
export function withNarrowTables(markdown) {
  return markdown.replaceAll(/^\|.*\|$/gm, (row) =>
    row.replaceAll(/ {2,}\|/g, ' |').replaceAll(/-{4,}/g, '---'),
  );
}
