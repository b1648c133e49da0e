/** The part of a plugin of Vite that is used here. */
interface Plugin {
  readonly name: string;
  config(config: object, environment: { readonly isSsrBuild?: boolean }): object | undefined;
}

/** Saves time: the bundle that renders the pages is deleted after the build, so its size doesn't matter. */
export function withoutTreeShaking(): Plugin {
  return {
    name: 'without-tree-shaking',
    config: (_, { isSsrBuild }) =>
      isSsrBuild === true ? { build: { rollupOptions: { treeshake: false } } } : undefined,
  };
}
