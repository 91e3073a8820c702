import type { RiskJudgment, RiskJudgmentPage } from '@actlog/protocol';
import { useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { useList } from '../hooks/use-list.ts';
import { JudgmentRow } from '../parts/judgments/judgment-row.tsx';
import { ListTable } from '../parts/list-table.tsx';
import { StatusTabs } from '../parts/status-tabs.tsx';

const statuses = ['active', 'ended'] as const;

/** Page with what people found out about what raises the risk of sessions; judgments can be ended. */
export function Judgments({ query }: { query: URLSearchParams }) {
  const { client } = useConnection();
  const [news, setNews] = useState('');
  const current = statuses.find((known) => known === query.get('status')) ?? 'active';
  const shown = useList<RiskJudgment>(
    `judgments ${current}`,
    async (page, signal) => {
      const data = await client.request<RiskJudgmentPage>('GET', '/server/v1/judgments', {
        query: { active: current === 'active', ...page },
        signal,
      });
      return { ...data, hasNextPage: () => data.nextCursor !== null };
    },
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
