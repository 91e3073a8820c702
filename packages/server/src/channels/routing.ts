import { isTimeZone, matchesGlob, type Schedule, scheduleEndMs } from '@actlog/policy';
import { type ChannelRules, channelEvents, type WebhookEvent, type WebhookEventType } from '@actlog/protocol';
import * as z from 'zod';
import { newIdentifier } from '../lib/identifier.ts';
import { isoTime } from '../lib/iso-time.ts';
import type { StoredChannel } from '../storage/stores/channel-store.ts';
import { type DeliveryRow, refreshDeliveries } from '../storage/stores/delivery-store.ts';
import { listSubscriptions } from '../storage/stores/people-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { People } from '../users/people.ts';
import { newDelivery } from '../webhooks/webhook-outbox.ts';
import type { ChannelEventType, ShownAction, StoredMessage } from './channel.ts';

const minuteMs = 60_000;

const globs = z.array(z.string().min(1).max(200)).max(50).default([]);

const timeOfDay = z
  .string()
  .regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, 'must be a time of day in hours and minutes, such as 22:00');

const quietHours = z
  .strictObject({
    timeZone: z.string().max(100).refine(isTimeZone, 'must be a time zone, such as Europe/Berlin'),
    days: z
      .array(z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']))
      .min(1)
      .max(7)
      .optional(),
    from: timeOfDay,
    to: timeOfDay,
    delaysHeldActions: z.boolean().default(false),
  })
  .refine(({ from, to }) => from !== to, 'must end at another time than it starts');

/** Schema of the rules of a channel, with their defaults. */
export const channelRules: z.ZodType<ChannelRules, Partial<ChannelRules>> = z.strictObject({
  events: z.array(z.enum(channelEvents)).min(1).max(3).default(['held', 'alert']),
  agents: globs,
  tools: globs,
  policies: globs,
  groups: z.array(z.string().min(1).max(200)).max(50).default([]),
  afterMinutes: z.number().min(0).max(10_080).default(0),
  remindMinutes: z.number().min(1).max(10_080).nullable().default(5),
  quietHours: quietHours.nullable().default(null),
}) as never;

/** Returns the types of webhook events that a channel with these rules has to see. */
export function eventTypesOf({ events }: ChannelRules): WebhookEventType[] {
  const isAboutActions = events.includes('held') || events.includes('decided');
  return isAboutActions ? ['guardian.action_pending', 'guardian.action_decided'] : [];
}

/** Returns the rules of a stored channel. */
export function rulesOf({ rules }: Pick<StoredChannel, 'rules'>): ChannelRules {
  return channelRules.parse(JSON.parse(rules));
}

function matchesAny(patterns: readonly string[], ...texts: readonly string[]): boolean {
  if (patterns.length === 0) return true;
  return patterns.some((pattern) => texts.some((text) => matchesGlob(pattern, text)));
}

/** `true` if an agent, or one around it, and a tool match the rules. */
export function matchesCall(
  { agents, tools }: Pick<ChannelRules, 'agents' | 'tools'>,
  agentIds: readonly string[],
  toolName: string,
): boolean {
  return matchesAny(agents, ...agentIds) && matchesAny(tools, toolName);
}

/** Returns the time from which a message that is due may be sent: later in quiet hours. */
export function afterQuietHours(
  { quietHours: quiet }: Pick<ChannelRules, 'quietHours'>,
  isHeldAction: boolean,
  dueMs: number,
): number {
  if (!quiet || (isHeldAction && !quiet.delaysHeldActions)) return dueMs;
  return scheduleEndMs(quiet as unknown as Schedule, dueMs);
}

/**
 * Routes of the messages about held actions. They are written in the transaction in which an action is held or ends, one
 * for each channel and time, also for later ones: an escalation and a reminder are deliveries that are due then.
 */
export class Routing {
  readonly #people: People;
  readonly #updates: (kind: StoredChannel['kind']) => boolean;

  /** @param updates - `true` for a kind whose messages can be changed */
  constructor(people: People, updates: (kind: StoredChannel['kind']) => boolean) {
    this.#people = people;
    this.#updates = updates;
  }

  /** Returns the messages that an event of a held action leads to, and brings those before it up to date. */
  async deliveries(
    db: Database,
    tenantId: number,
    { type, data }: WebhookEvent,
    channels: readonly StoredChannel[],
    nowMs: number,
  ): Promise<DeliveryRow[]> {
    if (type !== 'guardian.action_pending' && type !== 'guardian.action_decided') return [];
    const action = data as ShownAction;
    if (type === 'guardian.action_decided') {
      await refreshDeliveries(db, tenantId, action.id, { hasEnded: true, nowMs });
    }
    const rows: DeliveryRow[] = [];
    for (const channel of channelsFor(action, channels)) {
      const times =
        type === 'guardian.action_pending'
          ? this.#heldTimes(channel, action, nowMs)
          : this.#endTimes(channel, nowMs);
      if (times.length === 0) continue;
      for (const recipient of await this.recipients(
        db,
        channel,
        action.approvals.approverGroups ?? [],
        nowMs,
      )) {
        for (const time of times) rows.push(messageAbout(action, channel, recipient, time, nowMs));
      }
    }
    return rows;
  }

  #heldTimes({ kind, rules }: RoutedChannel, action: ShownAction, nowMs: number): MessageTime[] {
    if (!rules.events.includes('held')) return [];
    const expiresMs = Date.parse(action.expiresAt);
    const isEscalated = rules.afterMinutes > 0;
    const firstMs = afterQuietHours(rules, true, nowMs + rules.afterMinutes * minuteMs);
    if (firstMs >= expiresMs) return [];
    const times: MessageTime[] = [
      { type: this.#updates(kind) ? 'approval.card' : 'approval.held', dueMs: firstMs, isEscalated },
    ];
    const { remindMinutes } = rules;
    if (remindMinutes === null) return times;
    const reminderMs = expiresMs - remindMinutes * minuteMs;
    // A reminder that comes right after the first message says nothing new.
    if (reminderMs - firstMs >= minuteMs) {
      times.push({ type: 'approval.reminder', dueMs: afterQuietHours(rules, true, reminderMs), isEscalated });
    }
    return times;
  }

  #endTimes({ kind, rules }: RoutedChannel, nowMs: number): MessageTime[] {
    if (!rules.events.includes('decided')) return [];
    // The card itself shows the outcome.
    if (this.#updates(kind) && rules.events.includes('held')) return [];
    return [{ type: 'approval.decided', dueMs: afterQuietHours(rules, false, nowMs), isEscalated: false }];
  }

  /**
   * Returns the receivers within a channel: each address of mail, the browsers of those who can approve, or `null` for the
   * channel itself.
   *
   * @param approverGroups - groups that may approve; any if empty
   */
  async recipients(
    db: Database,
    {
      kind,
      settings,
      tenant_id: tenantId,
      rules,
    }: Pick<RoutedChannel, 'kind' | 'settings' | 'tenant_id' | 'rules'>,
    approverGroups: readonly string[],
    nowMs: number,
  ): Promise<(string | null)[]> {
    // A delivery for each address, so that one that fails is repeated alone.
    if (kind === 'mail') return (JSON.parse(settings) as { readonly to: string[] }).to;
    if (kind !== 'push') return [null];
    const groups = [rules.groups, approverGroups];
    const approvers = await this.#people.approvers(db, tenantId, groups, nowMs);
    const ids = new Set(approvers.map(({ row }) => row.id));
    const subscriptions = await listSubscriptions(db, tenantId);
    return subscriptions.filter((one) => ids.has(one.person_id)).map(({ id }) => id);
  }
}

/** A channel with its rules parsed. */
type RoutedChannel = Omit<StoredChannel, 'rules'> & { readonly rules: ChannelRules };

/** A message and when it is due. */
interface MessageTime {
  readonly type: ChannelEventType;
  readonly dueMs: number;
  readonly isEscalated: boolean;
}

/**
 * Returns the channels for an action: those whose patterns match and, if only certain groups may approve it, those that
 * reach one of these groups. If none does, all whose patterns match, because nobody would hear of it otherwise.
 */
function channelsFor(action: ShownAction, channels: readonly StoredChannel[]): RoutedChannel[] {
  const { agentId, parentAgentIds = [], policyId, policyName, approvals } = action;
  const { toolName } = action.action as { readonly toolName: string };
  const matching = channels
    .map((channel) => ({ ...channel, rules: rulesOf(channel) }))
    .filter(({ rules }) => matchesCall(rules, [agentId, ...parentAgentIds], toolName))
    .filter(({ rules }) => matchesAny(rules.policies, policyId, policyName ?? policyId));
  const { approverGroups } = approvals;
  if (!approverGroups) return matching;
  const reaching = matching.filter(({ rules }) =>
    rules.groups.some((group) => approverGroups.includes(group)),
  );
  return reaching.length === 0 ? matching : reaching;
}

function messageAbout(
  { id, sessionId }: ShownAction,
  channel: RoutedChannel,
  recipient: string | null,
  { type, dueMs, isEscalated }: MessageTime,
  nowMs: number,
): DeliveryRow {
  const message: StoredMessage = { type, timestamp: isoTime(nowMs), data: { sessionId, isEscalated } };
  const sent = { id: newIdentifier('msg'), type, body: JSON.stringify(message) };
  return {
    ...newDelivery({ tenantId: channel.tenant_id, id: channel.id }, sent, nowMs),
    next_attempt_ms: dueMs,
    subject: id,
    recipient,
  };
}
