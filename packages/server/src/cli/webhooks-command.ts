import { Command } from 'commander';
import type { ListedWebhook } from '../resources/notification-channels.ts';
import type { DeliveryRow } from '../storage/stores/delivery-store.ts';
import { administer, parseNumber, print, type TenantFlags, tenantCommand } from './administer.ts';

function channelLine({ id, status, url, events, failureCount: failures }: ListedWebhook): string {
  return [id, status, url, events.join(','), `${failures} failures in a row`].join('\t');
}

function deliveryLine({ id, event_type: type, status, attempts, ...row }: DeliveryRow): string {
  const outcome =
    row.last_error ?? (row.last_status === null ? 'not attempted' : `responded with ${row.last_status}`);
  return [id, new Date(row.created_ms).toISOString(), type, status, `${attempts} attempts`, outcome].join(
    '\t',
  );
}

/** Returns the command `webhooks`, which manages webhooks and their deliveries. */
export function webhooksCommand(): Command {
  const webhooks = new Command('webhooks').description(
    'list, disable and enable webhooks, rotate their secrets and replay messages',
  );
  tenantCommand(webhooks, 'list', 'list the webhooks of a tenant').action(
    ({ database, tenant }: TenantFlags) =>
      administer(database, async (admin) => {
        for (const channel of await admin.webhooks.list(tenant)) print(channelLine(channel));
      }),
  );
  tenantCommand(webhooks, 'disable <id>', 'disable a webhook').action(
    (id: string, { database, tenant }: TenantFlags) =>
      administer(database, (admin) => admin.webhooks.disable(tenant, id)),
  );
  tenantCommand(webhooks, 'enable <id>', 'enable a webhook').action(
    (id: string, { database, tenant }: TenantFlags) =>
      administer(database, (admin) => admin.webhooks.enable(tenant, id)),
  );
  tenantCommand(webhooks, 'rotate <id>', 'replace the secret of a webhook; the new one is shown only once')
    .option(
      '--overlap-days <days>',
      'days for which messages are also signed with the old one, 0 to 7',
      parseNumber,
      1,
    )
    .action((id: string, { database, tenant, overlapDays }: TenantFlags & { overlapDays: number }) =>
      administer(database, async (admin) =>
        print(await admin.webhooks.rotateSecret(tenant, id, overlapDays)),
      ),
    );
  tenantCommand(webhooks, 'deliveries <id>', 'list the last messages to a webhook').action(
    (id: string, { database, tenant }: TenantFlags) =>
      administer(database, async (admin) => {
        for (const delivery of await admin.webhooks.deliveries(tenant, id)) print(deliveryLine(delivery));
      }),
  );
  tenantCommand(webhooks, 'replay <delivery>', 'send a message again').action(
    (id: string, { database, tenant }: TenantFlags) =>
      administer(database, (admin) => admin.webhooks.replay(tenant, id)),
  );
  return webhooks;
}
