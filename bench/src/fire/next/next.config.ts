import { fileURLToPath } from 'node:url';

/** The packages are linked into the repository's own `node_modules`, above the app. */
const repository = fileURLToPath(new URL('../../../..', import.meta.url));

export default { outputFileTracingRoot: repository, turbopack: { root: repository } };
