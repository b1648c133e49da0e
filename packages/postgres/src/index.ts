export type {
  PostgresClient,
  PostgresConnection,
  PostgresNotification,
  PostgresPool,
  PostgresStoreOptions,
} from './options.ts';
export { postgresStore } from './postgres-store.ts';
export { postgresSchema } from './schema/migrate.ts';
export { postgresRegistry, type PostgresRegistryOptions } from './registry/postgres-registry.ts';
