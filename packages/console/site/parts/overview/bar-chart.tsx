import type { ActivityBucket } from '@actlog/protocol';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { axisTime, timeZone } from '../../clock.ts';
import { shortCount } from '../../count-text.ts';
import type { OverviewSpan } from '../../overview-span.ts';
import { onColorChange } from '../../preference.ts';

/** Span of time as the address of a list has it. */
export interface ChartRange extends Readonly<Record<string, string>> {
  readonly since: string;
  readonly until: string;
}

/** One part of the bars. */
export interface ChartSeries {
  readonly label: string;
  /** Class whose `color` is the color of the series. */
  readonly color: string;
  readonly value: (bucket: ActivityBucket) => number;
  /** Returns the address of the list with what is counted in a span. */
  readonly to: (range: ChartRange) => string;
}

const heightPx = 150;

/** Width of the labels of counts. */
const countsPx = 44;

/** Half the width of a label of the time axis. */
const edgePx = 20;

/** Distances between the labels of counts. */
const countSteps = Array.from({ length: 12 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();

/** Returns the rows of the chart: times, and for each series the sum of it and all before it. */
function stackedRows(buckets: readonly ActivityBucket[], series: readonly ChartSeries[]): uPlot.AlignedData {
  const times = buckets.map(({ at }) => Date.parse(at) / 1000);
  const sums = series.map((_, index) =>
    buckets.map((bucket) => series.slice(0, index + 1).reduce((sum, { value }) => sum + value(bucket), 0)),
  );
  // A bar is drawn over those behind it, so the highest sum comes first.
  return [times, ...sums.toReversed()];
}

/** Returns the computed color of an element with a class. */
function colorOf(within: Element, className: string): string {
  const probe = within.querySelector(`.swatch.${className}`) ?? within;
  return getComputedStyle(probe).color;
}

/** Stacked bars over time on a canvas. Decorative for screen readers: the same data is in a table. */
export function BarChart({
  buckets,
  series,
  span,
  onPoint,
  onPick,
}: {
  buckets: readonly ActivityBucket[];
  series: readonly ChartSeries[];
  span: OverviewSpan;
  /** Called with the index of the bucket below the pointer; `undefined` when it leaves. */
  onPoint: (index: number | undefined) => void;
  /** Called with the index of the pressed bucket, and its pressed part. */
  onPick: (index: number, series: ChartSeries) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const latest = useRef({ buckets, series, onPoint, onPick });
  latest.current = { buckets, series, onPoint, onPick };

  useEffect(() => {
    const { current: element } = box;
    const figure = element?.closest('figure');
    if (!element || !figure) return;
    const seconds = span.barSeconds;
    const bars = uPlot.paths.bars?.({ align: 1, size: [0.8, 48], gap: 1 });
    const faint = () => colorOf(figure, 'axis');
    const grid = { stroke: () => colorOf(figure, 'grid'), width: 1 };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: heightPx,
        padding: [8, 4, 0, 0],
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
        ...((span.interval === 'day' || timeZone === 'UTC') && {
          tzDate: (time: number) => uPlot.tzDate(new Date(time * 1000), 'Etc/UTC'),
        }),
        scales: {
          x: {
            range: (_, first, last) => [first, last + seconds],
          },
          y: { range: (_, __, highest) => [0, Math.max(1, highest * 1.05)] },
        },
        axes: [
          {
            stroke: faint,
            grid: { show: false },
            ticks: { show: false },
            gap: 2,
            size: 28,
            space: 56,
            incrs: [...span.labelEverySeconds],
            values: (u, times) =>
              times.map((time) => {
                const left = u.valToPos(time, 'x');
                // A label at an edge would be cut, or touch the labels of the counts.
                const isCut = left < edgePx || left > u.width - countsPx - edgePx;
                return isCut ? '' : axisTime(new Date(time * 1000), span.interval);
              }),
          },
          {
            stroke: faint,
            grid,
            ticks: { show: false },
            gap: 4,
            size: countsPx,
            space: 40,
            incrs: countSteps,
            values: (_, counts) => counts.map(shortCount),
          },
        ],
        series: [
          {},
          ...series.toReversed().map(({ color }) => ({
            fill: () => colorOf(figure, color),
            ...(bars && { paths: bars }),
            points: { show: false },
          })),
        ],
        hooks: {
          setCursor: [
            ({ cursor: { left = -1 }, posToVal, data }) => {
              const [first = 0] = data[0];
              const index = Math.floor((posToVal(left, 'x') - first) / seconds);
              latest.current.onPoint(left < 0 || index < 0 || index >= data[0].length ? undefined : index);
            },
          ],
        },
      },
      stackedRows(latest.current.buckets, latest.current.series),
      element,
    );
    chart.current = plot;
    plot.over.addEventListener('click', ({ offsetX, offsetY }) => {
      const { buckets, series, onPick } = latest.current;
      const index = Math.floor((plot.posToVal(offsetX, 'x') - (plot.data[0][0] ?? 0)) / seconds);
      const bucket = buckets[index];
      if (bucket === undefined) return;
      // A press above the bar means all of it, so the last part, which is its top.
      const height = plot.posToVal(offsetY, 'y');
      const present = series.filter(({ value }) => value(bucket) > 0);
      let sum = 0;
      const picked = present.find(({ value }) => {
        sum += value(bucket);
        return sum >= height;
      });
      const part = picked ?? present.at(-1);
      if (part !== undefined) onPick(index, part);
    });
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: heightPx }));
    observer.observe(element);
    const shown = new AbortController();
    // With its paths: new ones would widen the time axis by a bar each time.
    onColorChange(() => plot.redraw(false), shown.signal);
    return () => {
      shown.abort();
      observer.disconnect();
      plot.destroy();
      chart.current = undefined;
    };
  }, [span]);

  useEffect(() => chart.current?.setData(stackedRows(buckets, series)), [buckets]);

  return <div ref={box} class="plot" aria-hidden="true" />;
}
