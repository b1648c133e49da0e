/** With `npm run test:long`, tests search longer, and make the simulations that differ little from others. */
export const isLong: boolean = process.env['TEST_MODE'] === 'long';
