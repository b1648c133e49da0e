/** The version of this package, written by `npm run release:version`. */
export const VERSION = '0.1.0';
