// The part of each package's API that the site uses. They have their own lockfile, which `npm ci` at the root does not
// install.

declare module 'beautiful-mermaid' {
  export function renderMermaidSVG(code: string, options: { bg: string; fg: string }): string;
}

declare module 'vitepress/theme' {
  const theme: object;
  export default theme;
}

declare module 'vue' {
  export interface Ref<T> {
    value: T;
  }
  export function ref<T>(): Ref<T | undefined>;
  export function ref<T>(value: T): Ref<T>;
  export function reactive<T extends object>(value: T): T;
  export function onMounted(action: () => void): void;
  export function onBeforeUnmount(action: () => void): void;
  export function defineAsyncComponent(load: () => Promise<object>): object;
}

declare module '*.vue' {
  const component: object;
  export default component;
}

declare module '*.css';
