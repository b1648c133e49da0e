import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { run } from '../../test/examples/run.ts';

/**
 * The packages ask for a provenance statement (`publishConfig.provenance`), which needs the identity of a CI run. Only
 * an option of the command overrides that, and changesets passes none on. So the packages are published unchanged.
 */
const NPM_WITHOUT_PROVENANCE = `#!/bin/sh
[ "$1" = publish ] && set -- "$@" --no-provenance
exec "$(PATH="$PATH_OF_NPM" command -v npm)" "$@"
`;

interface Target {
  /** Where the command runs. */
  readonly repository: string;
  readonly registry: string;
  /** For files of the run. */
  readonly folder: string;
}

/** Runs a command that publishes packages, with `registry` instead of the one that npm is configured with. */
export async function publish(
  command: string,
  args: readonly string[],
  { repository, registry, folder }: Target,
): Promise<string> {
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, 'npm'), NPM_WITHOUT_PROVENANCE, { mode: 0o755 });
  const settings = join(folder, 'npmrc');
  // The registry lets anyone publish, but npm sends nothing without a token.
  await writeFile(settings, `${registry.replace('http:', '')}:_authToken=rehearsal\n`);
  const { PATH = '' } = process.env;
  return run(command, args, repository, {
    ...process.env,
    PATH: bin + delimiter + PATH,
    PATH_OF_NPM: PATH,
    npm_config_userconfig: settings,
    npm_config_registry: registry,
    // A registry that is out of order is not asked again after 10 s.
    npm_config_fetch_retries: '0',
  });
}
