import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { channelTestType } from '@actlog/protocol';
import { pendingActionView } from '../guardian/pending-action-view.ts';
import { findSession } from '../storage/sessions/session-store.ts';
import type { Storage } from '../storage/storage.ts';
import type { StoredChannel } from '../storage/stores/channel-store.ts';
import { cardReference, type DeliveryRow, findDelivery } from '../storage/stores/delivery-store.ts';
import { findPendingAction, type PendingActionRow } from '../storage/stores/pending-action-store.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';
import type { ChannelOutcome } from '../webhooks/sender.ts';
import { cardOf } from './card.ts';
import {
  type ChannelDriver,
  type ChannelMessage,
  type ChannelTarget,
  SendError,
  storedMessage,
} from './channel.ts';

/** Decision that a button makes. */
export type ButtonDecision = 'approve' | 'deny';

/** Decision that a button stands for. */
export interface ButtonSubject {
  readonly tenantId: number;
  readonly channelId: string;
  readonly action: Pick<PendingActionRow, 'id' | 'action_digest' | 'changes'>;
  readonly decision: ButtonDecision;
}

/**
 * Returns the token of a button. It holds for one decision about one action in one channel, exactly as the action is:
 * its digest covers the session, the tool, the arguments hash and the shown arguments. An approver's changes are bound, too.
 */
export function buttonToken({ channelKey }: DeploymentSecret, subject: ButtonSubject): string {
  const { tenantId, channelId, action, decision } = subject;
  const bound = JSON.stringify([
    tenantId,
    channelId,
    action.id,
    action.action_digest,
    action.changes,
    decision,
  ]);
  return createHmac('sha256', channelKey).update(bound).digest('base64url');
}

/** `true` if a token belongs to a button. Takes the same time for every wrong token. */
export function isButtonToken(secret: DeploymentSecret, subject: ButtonSubject, token: string): boolean {
  const [given, expected] = [Buffer.from(token), Buffer.from(buttonToken(secret, subject))];
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Parts of {@link ChannelDeliveries}. */
export interface ChannelDeliveryParts {
  readonly storage: Storage;
  readonly secret: DeploymentSecret;
  readonly drivers: ReadonlyMap<string, ChannelDriver>;
  /** Address of the server for browsers; `undefined` if it is not known. */
  readonly publicUrl: string | undefined;
  /** Address of a trace, with `{traceId}`; `undefined` if the deployment names no tracer. */
  readonly traceUrl?: string | undefined;
}

/** A reference to a card, with the state that it shows. */
interface CardReference {
  /** Name at the receiver. */
  readonly message: string;
  readonly shows: string;
}

/**
 * Sends the messages in the outbox that go to channels. A message is written out when it is sent, from the state of its
 * action at that time, so an outdated one is never sent, and no argument is stored a second time.
 */
export class ChannelDeliveries {
  readonly #parts: ChannelDeliveryParts;

  constructor(parts: ChannelDeliveryParts) {
    this.#parts = parts;
  }

  /** Makes one attempt. Never throws. Sends nothing if the message is no longer wanted, which counts as success. */
  async attempt(channel: StoredChannel, row: DeliveryRow): Promise<ChannelOutcome> {
    const startedMs = performance.now();
    const durationMs = () => Math.round(performance.now() - startedMs);
    try {
      const reference = await this.#send(channel, row);
      return { status: null, error: null, retryAfterMs: 0, durationMs: durationMs(), reference };
    } catch (error) {
      const failed = { reference: null, durationMs: durationMs() };
      if (!(error instanceof SendError)) {
        const { code, name } = error as NodeJS.ErrnoException;
        return {
          ...failed,
          status: null,
          error: `the message could not be sent (${code ?? name})`,
          retryAfterMs: 0,
        };
      }
      const { isGone, status, message, retryAfterMs } = error;
      return { ...failed, status: isGone ? 410 : status, error: message, retryAfterMs };
    }
  }

  /** Returns the new reference of the message; `null` if it stays as it was. */
  async #send(channel: StoredChannel, row: DeliveryRow): Promise<string | null> {
    const driver = this.#parts.drivers.get(channel.kind);
    if (!driver)
      throw new SendError(`this version of the server has no channels of the kind ${channel.kind}`);
    const problem = driver.problem();
    if (problem !== undefined) throw new SendError(problem);
    const target = this.#target(driver, channel, row);
    if (row.event_type === channelTestType) {
      await driver.send(
        { type: 'test', channelName: channel.name ?? '', url: this.#url('#/channels') },
        target,
      );
      return null;
    }
    const isMuted = channel.muted_until_ms !== null && channel.muted_until_ms > Date.now();
    if (row.subject !== null) return this.#sendAbout(row.subject, driver, target, row, isMuted);
    if (isMuted) return null;
    const { data } = storedMessage(row);
    const url = this.#url(data.place ?? '#/');
    await driver.send(
      { type: 'alert', title: data.title ?? '', lines: data.lines ?? [], ...(url !== undefined && { url }) },
      target,
    );
    return null;
  }

  /** Sends a message about a held action as it is now. */
  async #sendAbout(
    actionId: string,
    driver: ChannelDriver,
    target: ChannelTarget,
    row: DeliveryRow,
    isMuted: boolean,
  ): Promise<string | null> {
    const { tenantId } = target;
    const found = await this.#parts.storage.read(tenantId, async (db) => {
      const action = await findPendingAction(db, tenantId, actionId);
      // Read again: the row may be older than the lease.
      const current = await findDelivery(db, tenantId, row.id);
      const card = await cardReference(db, tenantId, actionId, row.channel_id);
      const session =
        action?.session_id == null ? undefined : await findSession(db, tenantId, action.session_id);
      return { action, session, own: current?.reference ?? null, card };
    });
    const { action: stored, session } = found;
    if (!stored) return null;
    const action = pendingActionView(stored, Date.now());
    const isPending = action.status === 'pending';
    const shows = hash(
      'sha256',
      JSON.stringify([action.status, action.approvals.given.length, stored.changes]),
    );
    const previous = found.own === null ? undefined : (JSON.parse(found.own) as CardReference);
    const isEnd = row.event_type === 'approval.decided';
    // Nothing to change, or nobody has seen it yet.
    if (previous ? previous.shows === shows : !isEnd && (!isPending || isMuted)) return null;
    if (isEnd && isMuted) return null;
    const { isEscalated } = storedMessage(row).data;
    const isReminder = row.event_type === 'approval.reminder';
    const message: ChannelMessage = {
      type: 'approval',
      notice: isEnd ? 'decided' : isReminder ? 'reminder' : isEscalated ? 'escalated' : 'held',
      action,
      card: cardOf(action, session, this.#parts.traceUrl),
      url: this.#url(`#/approvals/${encodeURIComponent(actionId)}`),
      tokens: isPending ? this.#tokens(target, stored) : undefined,
    };
    const card = found.card === null ? undefined : (JSON.parse(found.card) as CardReference).message;
    const reference = await driver.send(message, {
      ...target,
      changes: previous?.message,
      repliesTo: isReminder ? card : undefined,
    });
    if (!driver.updates || row.event_type !== 'approval.card') return null;
    const known = reference ?? previous?.message;
    return known === undefined ? null : JSON.stringify({ message: known, shows } satisfies CardReference);
  }

  #tokens({ tenantId, id }: ChannelTarget, action: PendingActionRow) {
    const token = (decision: ButtonDecision) =>
      buttonToken(this.#parts.secret, { tenantId, channelId: id, action, decision });
    return { approve: token('approve'), deny: token('deny') };
  }

  #target(driver: ChannelDriver, channel: StoredChannel, row: DeliveryRow): ChannelTarget {
    return {
      tenantId: channel.tenant_id,
      id: channel.id,
      name: channel.name ?? '',
      settings: channelSettings(driver, channel, this.#parts.secret),
      deliveryId: row.id,
      recipient: row.recipient,
      changes: undefined,
      repliesTo: undefined,
    };
  }

  #url(place: string): string | undefined {
    const { publicUrl } = this.#parts;
    return publicUrl === undefined ? undefined : `${publicUrl}/console/${place}`;
  }
}

/** Returns the context that the secret settings of a channel are encrypted with. */
export function channelContext({ tenant_id: tenantId, id }: Pick<StoredChannel, 'tenant_id' | 'id'>): string {
  return `channel:${tenantId}:${id}`;
}

/**
 * Returns all settings of a channel, with the secret ones.
 *
 * @throws SendError when they were encrypted under another secret of the deployment
 */
function channelSettings(
  { secretSettings }: ChannelDriver,
  channel: StoredChannel,
  secret: DeploymentSecret,
): Readonly<Record<string, unknown>> {
  const open = JSON.parse(channel.settings) as Record<string, unknown>;
  if (secretSettings.length === 0) return open;
  try {
    return { ...open, ...JSON.parse(secret.decrypt(channel.secret, channelContext(channel))) };
  } catch {
    throw new SendError('the channel was created under another secret of the deployment; create it again');
  }
}
