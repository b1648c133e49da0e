/**
 * The words of a text for the search: names such as `ERR_WBP_CAPACITY` and `maxWaitMs` whole, and their parts. It also
 * runs in the browser, where it has nothing but its own code.
 */
export function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{N}_-]+/u).flatMap((word) => {
    const parts = word.split(/[_-]+|(?<=\p{Ll})(?=\p{Lu})/u).filter((part) => part !== '');
    return parts.length === 1 ? parts : [word, ...parts].filter((part) => part !== '');
  });
}
