import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import * as z from 'zod';
import { type DecisionParts, decideAction } from '../guardian/decide-action.ts';
import { pendingActionView, tooLate } from '../guardian/pending-action-view.ts';
import type { FailedAuthentications } from '../http/limits/rate-limiter.ts';
import { ApiError, validationError } from '../lib/api-error.ts';
import type { TenantTurns } from '../lib/tenant-turns.ts';
import { findSession } from '../storage/sessions/session-store.ts';
import type { Storage } from '../storage/storage.ts';
import { findChannel } from '../storage/stores/channel-store.ts';
import { cardReference } from '../storage/stores/delivery-store.ts';
import { addStoredResponse } from '../storage/stores/idempotent-response-store.ts';
import { findPendingAction } from '../storage/stores/pending-action-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';
import { actorOfPerson, mayDecide, type People, type Person } from '../users/people.ts';
import { cardOf } from './card.ts';
import { type ButtonDecision, isButtonToken } from './channel-delivery.ts';
import {
  buttonIds,
  buttonValue,
  maxReasonLength,
  reasonForm,
  referenceOf,
  type SlackChannel,
  signatureDigest,
} from './slack.ts';

/** Parts of {@link mountSlackClicks}. */
export interface SlackClickParts extends DecisionParts {
  readonly slack: SlackChannel;
  readonly storage: Storage;
  readonly secret: DeploymentSecret;
  /** Shares the writing connections between the checks and changes of tenants. */
  readonly writeTurns: TenantTurns;
  readonly people: People;
  /** The tenant of the people who sign in, which has the Slack channels. */
  readonly tenant: { id(): Promise<number | undefined> };
  /** People by the ids of Slack users, which take precedence over the addresses in Slack. */
  readonly slackPeople: Readonly<Record<string, string>>;
  readonly failedAuthentications: FailedAuthentications;
  /** Address of the server for browsers; `undefined` if it is not known. */
  readonly publicUrl: string | undefined;
  /** Address of a trace, with `{traceId}`; `undefined` if the deployment names no tracer. */
  readonly traceUrl: string | undefined;
}

/** Path at which Slack reports clicks. */
export const slackClicksPath = '/server/v1/channels/slack/interactions';

/** Longest request of Slack, in bytes: it contains the whole message. */
const maxBodyBytes = 256 * 1024;

/** Payload of a click (https://docs.slack.dev/reference/interaction-payloads/block_actions-payload). */
const blockActions = z.object({
  type: z.literal('block_actions'),
  trigger_id: z.string().optional(),
  team: z.object({ id: z.string() }).nullish(),
  user: z.object({ id: z.string(), team_id: z.string().optional() }),
  container: z.object({ channel_id: z.string(), message_ts: z.string() }).partial().optional(),
  actions: z.array(z.object({ action_id: z.string(), value: z.string().optional() })).min(1),
});

/** Payload of a submitted form (https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload). */
const viewSubmission = z.object({
  type: z.literal('view_submission'),
  team: blockActions.shape.team,
  user: blockActions.shape.user,
  view: z.object({
    callback_id: z.literal(reasonForm.callback),
    private_metadata: z.string(),
    state: z.object({ values: z.record(z.string(), z.record(z.string(), z.unknown())) }),
  }),
});

/** Schema of the `private_metadata` of a form: the button that opened it, and its message. */
const formPlace = buttonValue.extend({ place: z.string().optional(), ts: z.string().optional() });

/** Person and message of a click or a form. */
type Interaction = Pick<z.output<typeof blockActions>, 'team' | 'user' | 'container'>;

/** A click on a button that decides, or on one that opens the form for a reason; or such a form. */
interface Click {
  readonly payload: Interaction;
  readonly decision: ButtonDecision;
  readonly value: z.output<typeof buttonValue>;
  /** Digest of the signature of its request. */
  readonly request: string;
  /** Slack's id of a click that opens the form; `undefined` for one that decides. */
  readonly trigger?: string | undefined;
  /** Content of a submitted form; `undefined` for a click. */
  readonly form?: { readonly reason: string | undefined };
}

/** Error thrown for a click that changes nothing. Its message is for the person. */
class ClickError extends Error {
  override readonly name = 'ClickError';
}

/**
 * Mounts the address at which Slack reports clicks. It has no key: Slack signs each request. A decision takes the same way
 * as one in the console, as the same person.
 */
export async function mountSlackClicks(app: FastifyInstance, parts: SlackClickParts): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'buffer', bodyLimit: maxBodyBytes },
      (_request, bytes, done) => done(null, bytes),
    );
    scope.post(slackClicksPath, { bodyLimit: maxBodyBytes }, async (request, reply) => {
      const body = request.body as Buffer;
      const signature = String(request.headers['x-slack-signature'] ?? '');
      const timestamp = String(request.headers['x-slack-request-timestamp'] ?? '');
      if (!parts.slack.isFromSlack(body, { signature, timestamp }, Date.now())) {
        const retryAfterMs = parts.failedAuthentications.count(request);
        if (retryAfterMs > 0) {
          throw new ApiError('RATE_LIMITED', 'Too many requests without a valid signature.', {
            retryAfterSeconds: retryAfterMs / 1000,
          });
        }
        throw new ApiError(
          'AUTHENTICATION_FAILED',
          'The request is not signed by the Slack app of this server, or is more than five minutes old.',
        );
      }
      const click = clickOf(body, signature);
      const problem = click && (await handle(parts, click, request.log));
      if (problem === undefined || click?.form === undefined) return reply.code(200).send();
      return reply.send({ response_action: 'errors', errors: { [reasonForm.block]: problem } });
    });
  });
}

/** Returns the click that a request reports; `undefined` for anything else, such as the button that opens a link. */
function clickOf(body: Buffer, signature: string): Click | undefined {
  let given: unknown;
  try {
    given = JSON.parse(new URLSearchParams(body.toString('utf8')).get('payload') ?? 'null');
  } catch {
    throw validationError('payload', 'invalid_json', 'must be JSON');
  }
  const request = signatureDigest(signature);
  const { data: submitted } = viewSubmission.safeParse(given);
  if (submitted) return { ...formOf(submitted), request };
  const { data: payload } = blockActions.safeParse(given);
  const [button] = payload?.actions ?? [];
  if (!payload || !button) return undefined;
  const value = jsonOf(button.value, buttonValue) ?? noButton;
  if (button.action_id === buttonIds.denyWithReason) {
    return { payload, decision: 'deny', value, request, trigger: payload.trigger_id ?? '' };
  }
  const decision = (['approve', 'deny'] as const).find((name) => buttonIds[name] === button.action_id);
  return decision && { payload, decision, value, request };
}

const noButton = { channel: '', action: '', token: '' };

function jsonOf<Schema extends z.ZodType>(text: string | undefined, schema: Schema) {
  try {
    return schema.safeParse(JSON.parse(text ?? '')).data;
  } catch {
    return undefined;
  }
}

/** Returns the decision of a form, about the message with the button that opened it. */
function formOf({ team, user, view }: z.output<typeof viewSubmission>): Omit<Click, 'request'> {
  const { place, ts, ...value } =
    jsonOf(view.private_metadata, formPlace) ?? ({ ...noButton } as z.output<typeof formPlace>);
  const { value: written } = (view.state.values[reasonForm.block]?.[reasonForm.field] ?? {}) as {
    readonly value?: unknown;
  };
  const reason = typeof written === 'string' ? written.trim().slice(0, maxReasonLength).toWellFormed() : '';
  const container = { ...(place && { channel_id: place }), ...(ts && { message_ts: ts }) };
  return {
    payload: { team, user, container },
    decision: 'deny',
    value,
    form: { reason: reason === '' ? undefined : reason },
  };
}

/** Decides, or tells the person why not. Returns the reason for which nothing changed. */
async function handle(
  parts: SlackClickParts,
  click: Click,
  log: FastifyBaseLogger,
): Promise<string | undefined> {
  const { payload, value, form } = click;
  const tenantId = await parts.tenant.id();
  let problem: string | undefined;
  try {
    if (tenantId === undefined) throw new ClickError('This server no longer has the tenant of this channel.');
    await decide(parts, click, tenantId);
  } catch (error) {
    const isExpected = error instanceof ClickError || (error instanceof ApiError && error.status < 500);
    if (!isExpected) log.error({ err: error }, 'click in Slack failed');
    const text = isExpected
      ? (error as Error).message
      : 'The decision could not be stored. Nothing has changed; try again.';
    problem = text;
    const place = payload.container?.channel_id;
    // A form shows it itself.
    if (place !== undefined && form === undefined) {
      await parts.slack
        .explain(place, payload.user.id, text)
        .catch((err: unknown) =>
          log.warn({ err }, 'a person in Slack could not be told why nothing changed'),
        );
    }
  }
  if (tenantId !== undefined) {
    await updateStray(parts, click, tenantId).catch((err: unknown) =>
      log.warn({ err, actionId: value.action }, 'a message in Slack could not be changed'),
    );
  }
  return problem;
}

async function decide(parts: SlackClickParts, click: Click, tenantId: number): Promise<void> {
  const { storage, secret, writeTurns } = parts;
  const { payload, decision, value, request, trigger, form } = click;
  const { channel, action } = await storage.read(tenantId, async (db) => ({
    channel: await findChannel(db, tenantId, value.channel),
    action: await findPendingAction(db, tenantId, value.action),
  }));
  const subject = action && { tenantId, channelId: value.channel, action, decision };
  if (channel?.kind !== 'slack' || !subject || !isButtonToken(secret, subject, value.token)) {
    throw new ClickError(
      'This button is not one of this server, or its action no longer exists. Nothing has changed.',
    );
  }
  const { changedArguments } = pendingActionView(subject.action, Date.now());
  if (channel.status !== 'active') throw new ClickError('This channel is disabled. Decide in the console.');
  const { channel: place, team } = JSON.parse(channel.settings) as { channel: string; team: string };
  if (payload.container?.channel_id !== place && !place.startsWith('D')) {
    throw new ClickError('This button belongs to another channel. Nothing has changed.');
  }
  const actor = actorOfPerson(await personOf(parts, payload, team, tenantId));
  if (trigger !== undefined) {
    const { channel_id, message_ts: ts } = payload.container ?? {};
    const shown = pendingActionView(subject.action, Date.now());
    if (shown.status !== 'pending') throw tooLate(subject.action, shown.status);
    const { title } = cardOf(shown, undefined, undefined);
    await parts.slack.openReasonForm(trigger, title, JSON.stringify({ ...value, place: channel_id, ts }));
    return;
  }
  await writeTurns.run(tenantId, () =>
    storage.write(tenantId, async (write) => {
      // In the transaction of the decision: a click that was not stored can be repeated.
      const isFirst =
        (await claim(write.db, tenantId, `request ${request}`)) &&
        (await claim(write.db, tenantId, `button ${value.token} ${actor.id}`));
      if (!isFirst) {
        throw new ClickError('This click was received before, and counts once. Nothing more has changed.');
      }
      // The token holds for exactly these changes, which the card shows.
      const body = {
        decision,
        ...(decision === 'approve' && changedArguments && { changedArguments }),
        ...(form?.reason !== undefined && { comment: form.reason }),
      };
      await decideAction(parts, write, { tenantId, actor, id: value.action, body });
    }),
  );
}

/** Marks a request or a button as used, in all processes. Returns `false` if it already was. */
function claim(db: Database, tenantId: number, key: string): Promise<boolean> {
  return addStoredResponse(db, {
    tenant_id: tenantId,
    endpoint: 'slack click',
    key,
    request_digest: '',
    status: 0,
    response: '',
    created_ms: Date.now(),
  });
}

/** Returns the person who clicked. @throws ClickError for someone who may not decide, or whom the server does not know. */
async function personOf(
  { slack, slackPeople, people, storage, publicUrl }: SlackClickParts,
  { user, team: from }: Interaction,
  team: string,
  tenantId: number,
): Promise<Person> {
  const elsewhere = [from?.id, user.team_id].some((id) => id !== undefined && id !== team);
  const mapped = Object.hasOwn(slackPeople, user.id) ? slackPeople[user.id] : undefined;
  const profile = elsewhere ? undefined : await slack.profile(user.id, team);
  if (!profile) {
    throw new ClickError(
      'Only members of the workspace of this server’s Slack app can decide. Nothing has changed.',
    );
  }
  const known = mapped ?? profile.email;
  if (known === undefined) {
    throw new ClickError(
      'Your Slack profile has no confirmed email address, so actlog does not know who you are. Nothing has changed.',
    );
  }
  const person = await storage.read(tenantId, (db) => people.find(db, tenantId, known, Date.now()));
  if (person === 'several') {
    throw new ClickError(
      'Several people of actlog have your email address. Ask the operator to map your Slack account to one of them.',
    );
  }
  if (!person) {
    const where = publicUrl === undefined ? 'in to the console' : `in at ${publicUrl}/console/`;
    throw new ClickError(
      `actlog does not know you, or you have not signed in for too long. Sign ${where} once, then click again. Nothing has changed.`,
    );
  }
  if (!mayDecide(person)) {
    throw new ClickError(
      `Your role (${person.role ?? 'none'}) cannot decide held actions. Nothing has changed.`,
    );
  }
  return person;
}

/**
 * Shows the outcome on a message that is not the known card of its action: one that a server posted just before it
 * crashed.
 */
async function updateStray(
  { slack, storage, secret, traceUrl }: SlackClickParts,
  { payload: { container }, value, decision }: Click,
  tenantId: number,
): Promise<void> {
  const { channel_id: place, message_ts: ts } = container ?? {};
  if (place === undefined || ts === undefined) return;
  const clicked = referenceOf(place, ts);
  const found = await storage.read(tenantId, async (db) => {
    const action = await findPendingAction(db, tenantId, value.action);
    const reference = await cardReference(db, tenantId, value.action, value.channel);
    const session =
      action?.session_id == null ? undefined : await findSession(db, tenantId, action.session_id);
    return { action, reference, session };
  });
  const { action: row } = found;
  if (
    !row ||
    !isButtonToken(secret, { tenantId, channelId: value.channel, action: row, decision }, value.token)
  ) {
    return;
  }
  const action = pendingActionView(row, Date.now());
  const known =
    found.reference === null ? undefined : (JSON.parse(found.reference) as { message: string }).message;
  if (action.status === 'pending' || known === undefined || known === clicked) return;
  const message = {
    type: 'approval' as const,
    notice: 'decided' as const,
    action,
    card: cardOf(action, found.session, traceUrl),
    url: undefined,
    tokens: undefined,
  };
  await slack.send(message, {
    tenantId,
    id: value.channel,
    name: '',
    settings: {},
    deliveryId: '',
    recipient: null,
    changes: clicked,
    repliesTo: undefined,
  });
}
