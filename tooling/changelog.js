// What `changeset version` writes into changelogs, for users: changes without the hashes of their commits, and one line
// for the packages that a package depends on. The default has a line of hashes for each change of those.

/** @param {{ summary: string }} changeset */
function getReleaseLine({ summary }) {
  const [first, ...others] = summary.trim().split('\n');
  return Promise.resolve([`- ${first ?? ''}`, ...others.map((line) => `  ${line}`.trimEnd())].join('\n'));
}

/**
 * @param {unknown} _changesets
 * @param {{ name: string, newVersion: string }[]} updated
 */
function getDependencyReleaseLine(_changesets, updated) {
  if (updated.length === 0) return Promise.resolve('');
  const names = updated.map(({ name, newVersion }) => `\`${name}\` ${newVersion}`);
  return Promise.resolve(`- With the changes of ${names.join(', ')}.`);
}

export default { getReleaseLine, getDependencyReleaseLine };
