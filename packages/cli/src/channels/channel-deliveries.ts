import { listDeliveries, resendDelivery, testWebhook, type WebhookDelivery } from '@actlog/client/server';
import { type Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { addLimitOption, type LimitFlags, pageSizeFor } from '../options/numbers.ts';
import { localTime } from '../output/local-time.ts';
import { printList } from '../output/print-list.ts';
import { printRecord } from '../output/print-record.ts';
import type { Column } from '../output/table.ts';

interface Flags extends ClientFlags, LimitFlags {
  readonly status?: WebhookDelivery['status'];
}

const statusStyles = { delivered: 'green', failed: 'red', waiting: 'yellow' } as const;

/** Returns the outcome of the last attempt in words. */
function outcome({ error, responseStatus }: WebhookDelivery): string {
  return error ?? (responseStatus === null ? 'not attempted yet' : `responded with ${responseStatus}`);
}

const columns: readonly Column<WebhookDelivery>[] = [
  { title: 'DELIVERY', value: ({ id }) => id, minWidth: 36 },
  { title: 'STATUS', value: ({ status }) => status, style: ({ status }) => statusStyles[status] },
  { title: 'EVENT', value: ({ eventType }) => eventType, style: () => 'bold', minWidth: 12 },
  { title: 'ATTEMPTS', value: ({ attempts }) => attempts, align: 'right' },
  { title: 'LAST ATTEMPT', value: outcome, minWidth: 16 },
  { title: 'MS', value: ({ durationMs }) => durationMs, align: 'right' },
  { title: 'CREATED', value: ({ createdAt }) => localTime(createdAt) },
  { title: 'NEXT ATTEMPT', value: ({ nextAttemptAt }) => localTime(nextAttemptAt) },
];

function print(delivery: WebhookDelivery, flags: ClientFlags): Promise<void> {
  return printRecord(
    delivery,
    [
      ['delivery', delivery.id, 'bold'],
      ['channel', delivery.webhookId],
      ['event', delivery.eventType],
      ['status', delivery.status, statusStyles[delivery.status]],
    ],
    flags,
  );
}

/** Adds `channels deliveries`, `test` and `resend`. */
export function addChannelDeliveries(parent: Command): void {
  const list = clientCommand(parent, {
    usage: 'deliveries <channel>',
    description: 'list the messages to a webhook, newest first',
    examples: [
      [
        'actlog channels deliveries nch_0198c1d2e3f47a5b8c6d7e8f90a1b2c3 --status failed',
        'what was not delivered, and why',
      ],
    ],
  }).addOption(
    new Option('--status <status>', 'only deliveries in this state').choices([
      'waiting',
      'delivered',
      'failed',
    ]),
  );
  addLimitOption(list, 'deliveries').action(async (id: string, flags: Flags) => {
    const client = await connect(flags);
    const filters = { status: flags.status, limit: pageSizeFor(flags.limit) };
    await printList(listDeliveries(client, id, filters), { columns, flags, noun: 'deliveries' });
  });
  clientCommand(parent, {
    usage: 'test <channel>',
    description: 'send a signed test message to a webhook',
    examples: ['actlog channels test nch_0198c1d2e3f47a5b8c6d7e8f90a1b2c3'],
  }).action(async (id: string, flags: ClientFlags) =>
    print(await testWebhook(await connect(flags), id), flags),
  );
  clientCommand(parent, {
    usage: 'resend <delivery>',
    description: 'send a message again',
    examples: ['actlog channels resend dlv_0198c1d2e3f47a5b8c6d7e8f90a1b2c3'],
  }).action(async (id: string, flags: ClientFlags) =>
    print(await resendDelivery(await connect(flags), id), flags),
  );
}
