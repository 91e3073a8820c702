import { endJudgment } from '@actlog/client/server';
import type { RiskJudgment, RiskJudgmentPage } from '@actlog/protocol';
import { useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { useAction } from '../hooks/use-action.ts';
import { serverPages, useList } from '../hooks/use-list.ts';
import { may } from '../identity.ts';
import { effectText, scopeText } from '../judgment-text.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Problem } from '../parts/problem.tsx';
import { StatusTabs } from '../parts/status-tabs.tsx';
import { ListTable } from '../parts/table.tsx';
import { actorName, Time } from '../parts/time.tsx';
import { href } from '../route.ts';

const statuses = ['active', 'ended'] as const;

/** Page with what people found out about what raises the risk of sessions; judgments can be ended. */
export function Judgments({ query }: { query: URLSearchParams }) {
  const { client } = useConnection();
  const [news, setNews] = useState('');
  const current = statuses.find((known) => known === query.get('status')) ?? 'active';
  const shown = useList<RiskJudgment>(
    `judgments ${current}`,
    serverPages<RiskJudgmentPage>(client, '/server/v1/judgments', { active: current === 'active' }),
    { everyMs: 10_000, nameOf: ({ id }) => id },
  );
  return (
    <>
      <h1>Judgments</h1>
      <p class="faint">
        Reasons that people expect no longer count, and sessions like a confirmed attack are at least high.
        Judge a reason on the page of its session.
      </p>
      <StatusTabs place="judgments" statuses={statuses} current={current} />
      <p role="status" class={news && 'news'} tabIndex={-1}>
        {news}
      </p>
      <ListTable
        shown={shown}
        caption="Judgments, newest first"
        columns={['Kind', 'Scope', 'Reason', 'By', 'Ends', 'Status']}
        empty={current === 'active' ? 'Nobody has judged a reason for risk.' : 'No judgment has ended.'}
        row={(judgment) => (
          <JudgmentRow
            key={judgment.id}
            judgment={judgment}
            onEnded={(text) => {
              setNews(text);
              shown.reload();
            }}
          />
        )}
      />
    </>
  );
}

/** Row of a judgment; an active one can be ended, and every one can be taken back. */
function JudgmentRow({ judgment, onEnded }: { judgment: RiskJudgment; onEnded: (news: string) => void }) {
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
