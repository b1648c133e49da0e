import { hosts, type Host } from './tools.js';

const names = (process.env['HOSTS'] ?? '').split(',');

/** The hosts that the environment variable HOSTS names. */
export const tested: readonly Host[] = hosts.filter(({ name }) => names.includes(name));
