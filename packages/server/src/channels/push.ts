import { createECDH, createHash } from 'node:crypto';
import type { Agent } from 'undici';
import * as z from 'zod';
import type { Storage } from '../storage/storage.ts';
import {
  dropSubscription,
  findSubscription,
  type PushSubscriptionRow,
} from '../storage/stores/people-store.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';
import { connectionReason, type FetchedResponse, guardedFetch } from '../webhooks/guarded-fetch.ts';
import {
  type ChannelDriver,
  type ChannelMessage,
  ChannelSettingError,
  type ChannelTarget,
  SendError,
} from './channel.ts';
import { refused } from './teams.ts';

const base64url = (length: number) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]+={0,2}$/)
    .refine((text) => Buffer.from(text, 'base64url').length === length);

/** Schema of a subscription as a browser returns it (https://www.w3.org/TR/push-api/#pushsubscription-interface). */
export const pushSubscription = z.object({
  endpoint: z.url().max(2000),
  keys: z.object({ p256dh: base64url(65), auth: base64url(16) }),
});

/** A subscription of a browser. */
export type PushSubscription = z.output<typeof pushSubscription>;

/** The keys by which push services know a deployment (VAPID, RFC 8292). */
export interface PushKeys {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** Returns the keys of a deployment, which are the same in all its processes and after each start. */
export function pushKeys({ pushKeySeed }: DeploymentSecret): PushKeys {
  for (let attempt = 0; ; attempt += 1) {
    const candidate = createHash('sha256').update(pushKeySeed).update(String(attempt)).digest();
    const key = createECDH('prime256v1');
    try {
      key.setPrivateKey(candidate);
    } catch {
      // Not below the order of the curve: once in four billion.
      continue;
    }
    return { publicKey: key.getPublicKey('base64url'), privateKey: candidate.toString('base64url') };
  }
}

/** Returns the context that the subscription of a browser is encrypted with. */
export function subscriptionContext(row: Pick<PushSubscriptionRow, 'tenant_id' | 'id'>): string {
  return `push:${row.tenant_id}:${row.id}`;
}

/** Seconds for which a push service keeps a notification whose browser is offline. */
const keptSeconds = 86_400;

/** Longest text of a notification, so that it fits into the 4,096 bytes that every push service takes. */
const maxTextLength = 300;

/** Parts of {@link PushChannel}. */
export interface PushParts {
  readonly storage: Storage;
  readonly secret: DeploymentSecret;
  readonly publicUrl: string | undefined;
  /** Connects only to permitted addresses. */
  readonly agent: Agent;
}

/**
 * Channels of web push: a notification in each browser that a person has subscribed. It opens the console, where people
 * are signed in and decide. The text is encrypted for the browser, so the push service cannot read it.
 */
export class PushChannel implements ChannelDriver {
  readonly kind = 'push' as const;
  readonly updates = false;
  readonly secretSettings = [] as const;
  readonly #parts: PushParts;

  constructor(parts: PushParts) {
    this.#parts = parts;
  }

  problem(): string | undefined {
    return this.#parts.publicUrl === undefined
      ? 'notifications open the console; the operator sets ACTLOG_PUBLIC_URL'
      : undefined;
  }

  async check(settings: unknown) {
    const { error } = z.strictObject({}).safeParse(settings);
    if (error)
      throw new ChannelSettingError('settings', 'must be empty: browsers are subscribed by their people');
    // The host differs from browser to browser; each channel counts as one receiver.
    return { settings: {}, url: 'https://push.invalid' };
  }

  async send(message: ChannelMessage, { tenantId, recipient }: ChannelTarget): Promise<null> {
    const { storage, secret, agent, publicUrl } = this.#parts;
    const row =
      recipient === null
        ? undefined
        : await storage.read(tenantId, (db) => findSubscription(db, tenantId, recipient));
    // The person has removed it meanwhile.
    if (!row) return null;
    const subscription = JSON.parse(
      secret.decrypt(row.subscription, subscriptionContext(row)),
    ) as PushSubscription;
    // Loaded here, because most servers never need it.
    const { default: webPush } = await import('web-push');
    const { text, topic, seconds } = notificationOf(message);
    const { endpoint, method, headers, body } = webPush.generateRequestDetails(subscription, text, {
      vapidDetails: { subject: contactOf(publicUrl), ...pushKeys(secret) },
      TTL: seconds,
      urgency: 'high',
      contentEncoding: 'aes128gcm',
      ...(topic !== undefined && { topic }),
    });
    let response: FetchedResponse;
    try {
      response = await guardedFetch(agent, endpoint, {
        method,
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
        body: body as Buffer,
      });
    } catch (error) {
      throw new SendError(connectionReason(error));
    }
    if (response.status === 404 || response.status === 410) {
      await storage.write(tenantId, ({ db }) => dropSubscription(db, tenantId, row.id));
      throw new SendError(`the browser is no longer subscribed (${response.status})`, {
        status: response.status,
        isGone: true,
      });
    }
    if (!response.ok) throw refused('the push service', response);
    return null;
  }
}

/** Returns what push services know the operator by (RFC 8292, section 2.1): an https address, else a placeholder. */
function contactOf(publicUrl = ''): string {
  return publicUrl.startsWith('https:') ? publicUrl : 'mailto:operator@localhost';
}

const notices = {
  held: 'Held',
  escalated: 'Nobody has decided yet',
  reminder: 'Expires soon',
  decided: 'Decided',
} as const;

/** Returns a notification as the service worker of the console reads it. */
function notificationOf(message: ChannelMessage): {
  readonly text: string;
  readonly topic: string | undefined;
  readonly seconds: number;
} {
  const shown = (title: string, body: string, url: string | undefined, tag?: string) =>
    JSON.stringify({ title: title.slice(0, maxTextLength), body: body.slice(0, maxTextLength), url, tag });
  switch (message.type) {
    case 'test':
      return {
        text: shown('actlog', 'Notifications work.', message.url),
        topic: undefined,
        seconds: keptSeconds,
      };
    case 'alert':
      return {
        text: shown(message.title, message.lines.join('\n'), message.url),
        topic: undefined,
        seconds: keptSeconds,
      };
    case 'approval': {
      const { action, card, notice, url } = message;
      const leftSeconds = Math.ceil((Date.parse(action.expiresAt) - Date.now()) / 1000);
      const policy = card.facts.find(({ label }) => label === 'Policy')?.text ?? '';
      return {
        text: shown(`${notices[notice]}: ${card.title}`, `${card.state} ${policy}`, url, action.id),
        // The newest replaces one that a browser has not received (RFC 8030, section 5.4).
        topic: action.id.replaceAll(/[^A-Za-z0-9_-]/g, '').slice(-32),
        seconds: notice === 'decided' ? keptSeconds : Math.min(keptSeconds, Math.max(1, leftSeconds)),
      };
    }
  }
}
