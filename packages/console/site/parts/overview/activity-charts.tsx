import type { ActivityBucket, Overview } from '@actlog/protocol';
import { useMemo, useState } from 'preact/hooks';
import { bucketTime } from '../../clock.ts';
import { countText } from '../../count-text.ts';
import { bucketsPerBar, type OverviewSpan, rangeOf } from '../../overview-span.ts';
import { href } from '../../route.ts';
import { lazyPage } from '../lazy-page.tsx';
import { Table } from '../table.tsx';
import type { ChartRange, ChartSeries } from './bar-chart.tsx';

// The largest script of the first page: loaded once the counts are shown.
const BarChart = lazyPage(async () => (await import('./bar-chart.tsx')).BarChart, <div class="plot" />);

/** A chart with its heading, a legend with the counts, and the same data as a table. */
function ChartFigure({
  title,
  buckets,
  series,
  span,
  range,
}: {
  title: string;
  buckets: readonly ActivityBucket[];
  series: readonly ChartSeries[];
  span: OverviewSpan;
  /** Time of all buckets. */
  range: ChartRange;
}) {
  const [pointed, setPointed] = useState<number>();
  const [isOpen, setIsOpen] = useState(false);
  const bucket = pointed === undefined ? undefined : buckets[pointed];
  const rangeAt = (index: number): ChartRange => ({
    since: buckets[index]?.at ?? range.since,
    until: buckets[index + 1]?.at ?? range.until,
  });
  return (
    <figure class="chart">
      <figcaption>
        <h2>{title}</h2>
        <span class="faint" aria-hidden="true">
          {bucket ? bucketTime(bucket.at, span.interval) : `last ${span.label}`}
        </span>
      </figcaption>
      <ul class="legend">
        {series.map(({ label, color, value, to }) => {
          const shown = bucket ? [bucket] : buckets;
          const count = shown.reduce((sum, one) => sum + value(one), 0);
          return (
            <li key={label}>
              <span class={`swatch ${color}`} aria-hidden="true" />
              <a href={to(range)}>{label}</a> <b class="number">{countText(count)}</b>
            </li>
          );
        })}
      </ul>
      {/* Colors of the canvas, which CSS does not style. */}
      <span class="swatch axis" hidden />
      <span class="swatch grid" hidden />
      <BarChart
        buckets={buckets}
        series={series}
        span={span}
        onPoint={setPointed}
        onPick={(index, picked) => {
          location.hash = picked.to(rangeAt(index));
        }}
      />
      <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary>
          As a table<span class="hidden">: {title}</span>
        </summary>
        {isOpen && (
          <Table
            caption={`${title}, last ${span.label}`}
            columns={['Time', ...series.map(({ label }) => label)]}
          >
            {buckets.map((one, index) => (
              <tr key={one.at}>
                <th scope="row">{bucketTime(one.at, span.interval)}</th>
                {series.map(({ label, value, to }) => (
                  <td key={label} class="number">
                    {value(one) === 0 ? '0' : <a href={to(rangeAt(index))}>{countText(value(one))}</a>}
                  </td>
                ))}
              </tr>
            ))}
          </Table>
        )}
      </details>
    </figure>
  );
}

type ChartName = 'errors' | 'risk' | 'calls' | 'decisions';

/** Charts that are shown at once, and those behind a fold. */
export const firstCharts: readonly ChartName[] = ['errors', 'risk'];
export const laterCharts: readonly ChartName[] = ['calls', 'decisions'];

const charts: Readonly<
  Record<ChartName, { readonly title: string; readonly series: readonly ChartSeries[] }>
> = {
  errors: {
    title: 'Errors and denials',
    series: [
      {
        label: 'Errors',
        color: 'of-errors',
        value: ({ errors }) => errors,
        to: (range) => href(['events'], { status: 'error', ...range }),
      },
      {
        label: 'Denials',
        color: 'of-denials',
        value: ({ denials }) => denials,
        to: (range) => href(['events'], { status: 'denied', ...range }),
      },
    ],
  },
  risk: {
    title: 'Sessions by risk',
    series: (['low', 'medium', 'high', 'critical'] as const).map((level) => ({
      label: level,
      color: `of-${level}`,
      value: ({ sessionsByLevel }) => sessionsByLevel[level],
      to: (range) => href(['sessions'], { level, ...range }),
    })),
  },
  calls: {
    title: 'Tool calls',
    series: [
      {
        label: 'Calls',
        color: 'of-calls',
        value: ({ calls }) => calls,
        to: (range) => href(['events'], range),
      },
    ],
  },
  decisions: {
    title: 'Decisions of policies',
    series: (
      [
        ['allow', 'Allowed', 'low'],
        ['require_approval', 'Waiting', 'held'],
        ['deny', 'Denied', 'denials'],
      ] as const
    ).map(([decision, label, color]) => ({
      label,
      color: `of-${color}`,
      value: ({ decisions }) => decisions[decision],
      to: (range) => href(['decisions'], { decision, dryRun: 'false', ...range }),
    })),
  },
};

/** Some charts of an overview. */
export function ActivityCharts({
  overview,
  span,
  names,
}: {
  overview: Overview;
  span: OverviewSpan;
  names: readonly ChartName[];
}) {
  // The same array, so that charts are drawn again only for new data.
  const bars = useMemo(() => mergeBuckets(overview.series, bucketsPerBar(span)), [overview, span]);
  return (
    <div class="charts">
      {names.map((name) => (
        <ChartFigure key={name} {...charts[name]} buckets={bars} span={span} range={rangeOf(overview)} />
      ))}
    </div>
  );
}

type Numbers = Readonly<Record<string, number>>;

function sumOf<Counts extends object>(left: Counts, right: Counts): Counts {
  const other = right as Numbers;
  return Object.fromEntries(
    Object.entries(left as Numbers).map(([name, count]) => [name, count + (other[name] ?? 0)]),
  ) as Counts;
}

/** Merges each `size` consecutive buckets into one; the last may have fewer. */
export function mergeBuckets(buckets: readonly ActivityBucket[], size: number): ActivityBucket[] {
  const merged: ActivityBucket[] = [];
  for (const [index, bucket] of buckets.entries()) {
    const last = merged.at(-1);
    if (last === undefined || index % size === 0) {
      merged.push(bucket);
      continue;
    }
    const { at, sessionsByLevel, decisions, ...counts } = last;
    const { at: _, sessionsByLevel: levels, decisions: others, ...more } = bucket;
    merged[merged.length - 1] = {
      at,
      ...sumOf(counts, more),
      sessionsByLevel: sumOf(sessionsByLevel, levels),
      decisions: sumOf(decisions, others),
    };
  }
  return merged;
}
