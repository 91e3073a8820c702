import type { NotificationChannel, NotificationChannelCreate, WebhookEventType } from '@actlog/client';
import { Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { addLimitOption, type LimitFlags, pageSizeFor } from '../options/numbers.ts';
import { formatOf } from '../output/format.ts';
import { localTime } from '../output/local-time.ts';
import { note } from '../output/print.ts';
import { printList } from '../output/print-list.ts';
import { printRecord } from '../output/print-record.ts';
import type { Column } from '../output/table.ts';
import { addChannelChanges } from './change-channels.ts';
import { addChannelDeliveries } from './channel-deliveries.ts';

const eventTypes: readonly WebhookEventType[] = [
  'guardian.action_pending',
  'guardian.action_decided',
  'policy.matched',
  'session.risk_raised',
];

const columns: readonly Column<NotificationChannel>[] = [
  { title: 'CHANNEL', value: ({ id }) => id, minWidth: 36 },
  {
    title: 'STATUS',
    value: ({ status }) => status,
    style: ({ status }) => (status === 'disabled' ? 'red' : 'green'),
  },
  { title: 'URL', value: ({ url }) => url, style: () => 'bold', minWidth: 16 },
  { title: 'FAILURES', value: ({ failureCount }) => failureCount, align: 'right' },
  { title: 'LAST DELIVERY', value: ({ lastDeliveryAt }) => localTime(lastDeliveryAt) },
  { title: 'EVENTS', value: ({ events }) => events?.join(', ') },
];

/** Creates the command `channels`. */
export function channelsCommand(): Command {
  const channels = new Command('channels').description(
    'Manages webhooks, which notify people and programs, and their deliveries. `actlog webhooks` does the same in the database, without a server.',
  );
  const list = clientCommand(channels, {
    usage: 'list',
    description: 'list webhooks, newest first',
    examples: ['actlog channels list'],
  });
  addLimitOption(list, 'webhooks').action(async (flags: ClientFlags & LimitFlags) => {
    const client = await connect(flags);
    const items = client.notificationChannels.list({ limit: pageSizeFor(flags.limit) });
    await printList(items, { columns, flags, noun: 'webhooks' });
  });
  addCreate(channels);
  addChannelChanges(channels);
  addChannelDeliveries(channels);
  return channels;
}

function addCreate(parent: Command): void {
  clientCommand(parent, {
    usage: 'create <url>',
    description: 'create a webhook; its signing secret is shown only once',
    examples: ['actlog channels create https://example.com/actlog --events guardian.action_pending'],
  })
    .addOption(
      new Option('--events <types...>', 'types of event to deliver; all by default').choices(eventTypes),
    )
    .action(async (url: string, flags: ClientFlags & { readonly events?: WebhookEventType[] }) => {
      const client = await connect(flags);
      const body: NotificationChannelCreate = { url, ...(flags.events && { events: flags.events }) };
      const channel = await client.notificationChannels.create(body);
      await printRecord(
        channel,
        [
          ['channel', channel.id, 'bold'],
          ['url', channel.url],
          ['events', channel.events?.join(', ')],
          ['secret', channel.secret],
        ],
        flags,
      );
      if (formatOf(flags) === 'table') note('\nStore the secret now: it is not shown again.');
    });
}
