import { useState } from 'preact/hooks';
import { now } from '../clock.ts';
import { useConnection } from '../connection.ts';
import { useAction } from '../use-action.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { Problem } from './problem.tsx';

/** Milliseconds after its last event from which on a session can be learned. */
const endedAfterMs = 30 * 60_000;

/**
 * The way out for a session that scored high and was usual work: such a session is not learned by itself. Between the
 * reference server and its page, as the keys are.
 */
export function UsualWork({
  sessionId,
  agentId,
  lastEventAt,
}: {
  sessionId: string;
  agentId: string;
  lastEventAt: string | undefined;
}) {
  const { client } = useConnection();
  const [isLearned, setLearned] = useState<boolean>();
  const learn = useAction(async () => {
    const path = `/console/api/sessions/${encodeURIComponent(sessionId)}/learn` as const;
    setLearned((await client.request<{ learned: boolean }>('POST', path, { body: {} })).learned);
  });
  const hasEnded = now().getTime() - Date.parse(lastEventAt ?? '') > endedAfterMs;
  return (
    <div>
      <p class="faint">
        Sessions of this level do not become part of what {agentId} usually does, unless a person says so
        {hasEnded ? '.' : ', here, half an hour after the last event.'}
      </p>
      {hasEnded && (
        <ConfirmButton
          label="This was usual work"
          question={`Yes, hold later sessions of ${agentId} against it`}
          isBusy={learn.isBusy}
          onConfirm={learn.run}
        />
      )}
      <p role="status">
        {isLearned === true &&
          `Learned. Sessions of ${agentId} that begin from now on are held against it too.`}
        {isLearned === false &&
          'Not learned: it has no call, or all sessions that are kept were confirmed too.'}
      </p>
      <Problem error={learn.error} />
    </div>
  );
}
