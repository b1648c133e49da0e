export default {
  serverDir: '.',
  compatibilityDate: '2026-01-01',
  output: { dir: process.env['OUTPUT'] ?? '.output' },
};
