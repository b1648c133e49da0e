/**
 * Replaces each line `<!-- README code with WORDS -->` by the first block of JavaScript or TypeScript in the README that
 * contains these words, so that the home page has the same code.
 */
export function withReadmeCode(markdown: string, readme: string): string {
  return markdown.replaceAll(
    /^<!-- README code with (.+) as (.+) -->$/gm,
    (_, words: string, title: string) => {
      const blocks = [...readme.matchAll(/^```(js|ts)\n([\s\S]*?)^```$/gm)];
      const [, language, code] = blocks.find(([block]) => block.includes(words)) ?? [];
      if (language === undefined || code === undefined)
        throw new Error(`README.md has no code with ${words}.`);
      return `\`\`\`${language} [${title}]\n${code}\`\`\``;
    },
  );
}
