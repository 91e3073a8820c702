import { endJudgment } from '@actlog/client/server';
import type { RiskJudgment } from '@actlog/protocol';
import { useConnection } from '../../connection.ts';
import { useAction } from '../../hooks/use-action.ts';
import { may } from '../../identity.ts';
import { effectText, scopeText } from '../../judgment-text.ts';
import { href } from '../../route.ts';
import { actorName } from '../actor-name.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { Problem } from '../problem.tsx';
import { Time } from '../time.tsx';

/** Row of a judgment; an active one can be ended, and every one can be taken back. */
export function JudgmentRow({
  judgment,
  onEnded,
}: {
  judgment: RiskJudgment;
  onEnded: (news: string) => void;
}) {
  const { client, identity } = useConnection();
  const { id, kind, status, scope, reason, createdBy, createdByPrincipal, createdAt, expiresAt, isUndone } =
    judgment;
  const end = useAction(async (undo: boolean) => {
    const { effect } = await endJudgment(client, id, { undo });
    onEnded(`Ended. ${effectText(effect)}`);
  });
  const isActive = status === 'active';
  return (
    <tr>
      <th scope="row">
        <span class={`badge${kind === 'attack' ? ' bad' : ' good'}`}>
          {kind === 'attack' ? 'attack' : 'expected'}
        </span>
      </th>
      <td>
        {scope.sessionId === null ? (
          <span class="whole">{scopeText(judgment)}</span>
        ) : (
          <a class="whole" href={href(['sessions', scope.sessionId])}>
            {scopeText(judgment)}
          </a>
        )}
      </td>
      <td>
        <bdi class="whole">{reason}</bdi>
      </td>
      <td>
        <span class="whole">{actorName(createdBy, createdByPrincipal)}</span>, <Time at={createdAt} />
      </td>
      <td>
        <Time at={expiresAt} />
      </td>
      <td>
        <span class={`badge${isActive ? ' good' : ''}`}>{isUndone ? 'undone' : status}</span>{' '}
        {may(identity, 'manage') && (
          <>
            {isActive && scope.sessionId === null && (
              <ConfirmButton
                label="End"
                question="End: past scores stay"
                isBusy={end.isBusy}
                onConfirm={() => end.run(false)}
              />
            )}{' '}
            {!isUndone && (
              <ConfirmButton
                label="Undo"
                question="Undo: score past sessions without it"
                isBusy={end.isBusy}
                onConfirm={() => end.run(true)}
              />
            )}
          </>
        )}
        <Problem error={end.error} />
      </td>
    </tr>
  );
}
