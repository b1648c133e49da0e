/** The version of this package, which `npm run release:version` updates. */
export const VERSION = '0.1.0';
