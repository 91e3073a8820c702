import { Command } from 'commander';
import type { ListedWebhook } from '../resources/channel-view.ts';
import type { DeliveryRow } from '../storage/delivery-store.ts';
import { administer, number, print, type TenantFlags, tenantCommand } from './tenant-flags.ts';

function channelLine({ id, status, url, events, failureCount: failures }: ListedWebhook): string {
  return [id, status, url, events.join(','), `${failures} failures in a row`].join('\t');
}

function deliveryLine({ id, event_type: type, status, attempts, ...row }: DeliveryRow): string {
  const outcome = row.last_error ?? (row.last_status === null ? 'not tried' : `answered ${row.last_status}`);
  return [id, new Date(row.created_ms).toISOString(), type, status, `${attempts} tries`, outcome].join('\t');
}

/** `webhooks`: what becomes of a tenant's webhooks once they are made. */
export function webhooksCommand(): Command {
  const webhooks = new Command('webhooks').description(
    'list, stop and resume webhooks, and give them new secrets',
  );
  tenantCommand(webhooks, 'list', 'list the webhooks of a tenant').action(
    ({ database, tenant }: TenantFlags) =>
      administer(database, async (admin) => {
        for (const channel of await admin.webhooks(tenant)) print(channelLine(channel));
      }),
  );
  tenantCommand(webhooks, 'disable <id>', 'send nothing more to a webhook').action(
    (id: string, { database, tenant }: TenantFlags) =>
      administer(database, (admin) => admin.disableWebhook(tenant, id)),
  );
  tenantCommand(webhooks, 'enable <id>', 'send to a webhook again').action(
    (id: string, { database, tenant }: TenantFlags) =>
      administer(database, (admin) => admin.enableWebhook(tenant, id)),
  );
  tenantCommand(webhooks, 'rotate <id>', 'give a webhook a new secret; it is shown this once')
    .option('--overlap-days <days>', 'days that messages are signed with the old one too, 0 to 7', number, 1)
    .action((id: string, { database, tenant, overlapDays }: TenantFlags & { overlapDays: number }) =>
      administer(database, async (admin) => print(await admin.rotateWebhookSecret(tenant, id, overlapDays))),
    );
  tenantCommand(webhooks, 'deliveries <id>', 'list the last messages to a webhook').action(
    (id: string, { database, tenant }: TenantFlags) =>
      administer(database, async (admin) => {
        for (const delivery of await admin.deliveries(tenant, id)) print(deliveryLine(delivery));
      }),
  );
  tenantCommand(webhooks, 'replay <delivery>', 'send a message again').action(
    (id: string, { database, tenant }: TenantFlags) =>
      administer(database, (admin) => admin.replayDelivery(tenant, id)),
  );
  return webhooks;
}
