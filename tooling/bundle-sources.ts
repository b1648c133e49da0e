import { build } from 'vite';

/**
 * Bundles a program for Node 20, which runs no TypeScript, with our packages from their sources.
 *
 * @param entry - the path of its first module.
 * @param folder - where the program is written.
 * @param name - its name there.
 */
export async function bundleSources(entry: string, folder: string, name: string): Promise<void> {
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: {
      noExternal: [/^@webhook-backpressure\//],
      resolve: { conditions: ['@webhook-backpressure/source'] },
    },
    build: {
      ssr: entry,
      outDir: folder,
      emptyOutDir: true,
      target: 'node20',
      rolldownOptions: { output: { entryFileNames: name } },
    },
  });
}
