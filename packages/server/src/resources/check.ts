import { headers, limits } from '@actlog/protocol';
import type { Call, OwnRoute } from '../http/route.ts';
import { Check, type CheckAnswer } from '../policy/check.ts';
import type { Services } from '../services.ts';

const waitPreference = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,5})"?\s*(?=$|[,;])/i;

/** Seconds that the caller wants to wait for a decision (RFC 7240, section 4.3), within the bound; 0 for none. */
function preferredWaitSeconds(prefer: string | undefined): number {
  return Math.min(limits.maxWaitSeconds, Number(waitPreference.exec(prefer ?? '')?.[1] ?? 0));
}

/** `POST /v1/policies/check`, held until the decision when the caller prefers to wait. */
export function checkAction(services: Services): OwnRoute<'policies.check'> {
  return {
    kind: 'own',
    async handle(call, reply) {
      const waitSeconds = preferredWaitSeconds(call.header(headers.prefer));
      const untilMs = call.receivedMs + waitSeconds * 1000;
      let answer = await ask(services, call, call.receivedMs);
      if (waitSeconds > 0) void reply.header('preference-applied', `wait=${waitSeconds}`);
      // A wake-up may be about something else, so each is followed by a look; every round ends at the deadline.
      while (answer.decision === 'require_approval' && answer.pendingActionId !== null && answer.expiresAt) {
        const nowMs = Date.now();
        if (nowMs >= untilMs || call.gone().aborted || services.decisions.isClosed) break;
        const leftMs = Math.min(untilMs, Date.parse(answer.expiresAt)) - nowMs;
        await services.decisions.wait(answer.pendingActionId, Math.max(1, leftMs), call.gone());
        answer = await ask(services, call, Date.now(), answer.pendingActionId);
      }
      return answer;
    },
  };
}

async function ask(
  services: Services,
  { caller: { tenantId }, body }: Call<'policies.check'>,
  nowMs: number,
  heldId?: string,
): Promise<CheckAnswer> {
  const check = new Check(services, tenantId, body, nowMs, heldId);
  const read = await services.storage.read(tenantId, (db) => check.answerByReading(db));
  return read ?? services.storage.write(tenantId, (write) => check.answerByWriting(write));
}
