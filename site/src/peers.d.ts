// The part of each package's API that the site uses. They have their own lockfile, which `npm ci` at the root does not
// install.

declare module 'beautiful-mermaid' {
  export function renderMermaidSVG(code: string, options: { bg: string; fg: string }): string;
}

declare module 'vitepress/theme' {
  const theme: object;
  export default theme;
}

declare module '*.css';
