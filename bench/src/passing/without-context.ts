// Imported before the packages, which ask the runtime for AsyncLocalStorage when they are loaded.
if (process.argv[2] === 'web-without-context') {
  process.getBuiltinModule = () => undefined;
}
