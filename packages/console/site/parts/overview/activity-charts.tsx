import type { Overview } from '@actlog/protocol';
import { useMemo } from 'preact/hooks';
import { mergeBuckets } from '../../merge-buckets.ts';
import { bucketsPerBar, type OverviewSpan } from '../../overview-span.ts';
import { href } from '../../route.ts';
import type { ChartSeries } from './bar-chart.tsx';
import { ChartFigure } from './chart-figure.tsx';

const charts: readonly { readonly title: string; readonly series: readonly ChartSeries[] }[] = [
  {
    title: 'Tool calls',
    series: [{ label: 'Calls', color: 'of-calls', value: ({ calls }) => calls, href: href(['sessions']) }],
  },
  {
    title: 'Errors and denials',
    series: [
      {
        label: 'Errors',
        color: 'of-errors',
        value: ({ errors }) => errors,
        href: href(['sessions'], { status: 'errors' }),
      },
      {
        label: 'Denials',
        color: 'of-denials',
        value: ({ denials }) => denials,
        href: href(['sessions'], { status: 'denied' }),
      },
    ],
  },
  {
    title: 'Sessions by risk',
    series: (['low', 'medium', 'high', 'critical'] as const).map((level) => ({
      label: level,
      color: `of-${level}`,
      value: ({ sessionsByLevel }) => sessionsByLevel[level],
      href: href(['sessions'], { level }),
    })),
  },
  {
    title: 'Decisions of policies',
    series: (
      [
        ['allow', 'Allowed', 'low'],
        ['require_approval', 'Held', 'medium'],
        ['deny', 'Denied', 'critical'],
      ] as const
    ).map(([decision, label, color]) => ({
      label,
      color: `of-${color}`,
      value: ({ decisions }) => decisions[decision],
      href: href(['decisions'], { decision }),
    })),
  },
];

/** The charts of an overview. */
export function ActivityCharts({ overview, span }: { overview: Overview; span: OverviewSpan }) {
  // The same array, so that charts are drawn again only for new data.
  const bars = useMemo(() => mergeBuckets(overview.series, bucketsPerBar(span)), [overview, span]);
  return (
    <div class="charts">
      {charts.map((chart) => (
        <ChartFigure key={chart.title} {...chart} buckets={bars} span={span} />
      ))}
    </div>
  );
}
