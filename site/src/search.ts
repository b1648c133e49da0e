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

/**
 * The order of the results. A section is found by any of the words, and first if it has all of them or rare ones. An
 * option has its name on many pages, and in many types of the API reference. The functions also run in the browser.
 */
export const ranking = {
  combineWith: 'OR',
  boost: { title: 4, text: 2, titles: 1 },
  boostDocument: (id: string): number =>
    /\/(?:api|bench|simulation)\//.test(id) ? 0.1 : id.includes('/options#') ? 2 : 1,
};
