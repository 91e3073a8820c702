/**
 * The actlog service: every endpoint of the API, on an embedded database or on PostgreSQL, started by one call or one
 * command.
 *
 * @packageDocumentation
 */
export type { Administration, ToolTagAdministration } from './administration/administration.ts';
export type { KeyAdministration } from './administration/keys.ts';
export type { LegalHoldAdministration } from './administration/legal-holds.ts';
export type { SessionAdministration } from './administration/sessions.ts';
export type { QuotaUsage, TenantAdministration } from './administration/tenants.ts';
export type { WebhookAdministration } from './administration/webhooks.ts';
export type { ServerOptions } from './configuration.ts';
export type { DeleteOptions } from './deletion/delete-tenant.ts';
export type { ListedWebhook } from './resources/notification-channels.ts';
export type { ToolTagChanges, ToolTags } from './risk/tool-tags.ts';
export { type RunningServer, startServer } from './start-server.ts';
export type { RetentionChanges, RetentionPolicy } from './storage/retention/retention.ts';
export type { DeliveryRow } from './storage/stores/delivery-store.ts';
export type { StoredKey } from './storage/stores/key-store.ts';
export type { DeploymentQuotas, QuotaChanges, QuotaName } from './storage/stores/quota-store.ts';
export type { KeyKind } from './tenants/api-key.ts';
export type { CreatedKey, CreateKeyOptions } from './tenants/key-changes.ts';
