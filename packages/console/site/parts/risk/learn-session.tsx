import { useState } from 'preact/hooks';
import { now } from '../../clock.ts';
import { useConnection } from '../../connection.ts';
import { useAction } from '../../hooks/use-action.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { Problem } from '../problem.tsx';

/** Time after its last event at which a session can be learned, in milliseconds. */
const endedAfterMs = 30 * 60_000;

/**
 * Button to learn a session that scored high but was benign: such a session is not learned automatically. Uses private
 * endpoints of the reference server, as the keys do.
 */
export function LearnSession({
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
        Sessions of this level do not become part of the baseline of {agentId} unless a person confirms them
        {hasEnded ? '.' : ' here, half an hour after the last event.'}
      </p>
      {hasEnded && (
        <ConfirmButton
          label="This session was benign"
          question={`Yes, add it to the baseline of ${agentId}`}
          isBusy={learn.isBusy}
          onConfirm={learn.run}
        />
      )}
      <p role="status">
        {isLearned === true && `Learned. New sessions of ${agentId} are compared with it too.`}
        {isLearned === false && 'Not learned: it has no call, or the baseline is full of confirmed sessions.'}
      </p>
      <Problem error={learn.error} />
    </div>
  );
}
