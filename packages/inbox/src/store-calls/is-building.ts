interface Runtime {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
}

/**
 * Whether a framework builds the app in this process or thread: Next.js, or SvelteKit. They load the modules of routes while
 * they build, and set these variables there only.
 */
export function isBuilding(): boolean {
  const env = (globalThis as Runtime).process?.env;
  return env?.['NEXT_PHASE'] === 'phase-production-build' || env?.['SVELTEKIT_FORK'] === 'true';
}
