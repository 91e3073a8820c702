import type { Risk } from '@actlog/client';
import { RiskDimensions } from './risk-dimensions.tsx';
import { RiskFactors } from './risk-factors.tsx';
import { RiskRadar } from './risk-radar.tsx';
import { RiskRelation } from './risk-relation.tsx';

/** Risk of a session: the radar chart and the reasons with recommendations. */
export function RiskReport({
  risk,
  labelOf,
  onShow,
  onExpected,
}: {
  risk: Risk;
  /** Returns the name of an event. */
  labelOf: (eventId: string, index: number) => string;
  onShow: (eventId: string) => void;
  /** Called with the rule of a reason that the user expected; undefined for users who may not say so. */
  onExpected: ((ruleId: string) => void) | undefined;
}) {
  const { dimensions } = risk;
  return (
    <>
      <RiskRelation risk={risk} />
      <div class="report">
        {dimensions !== undefined && (
          <div>
            <RiskRadar dimensions={dimensions} />
            <RiskDimensions dimensions={dimensions} />
          </div>
        )}
        <div>
          <h3>Reasons and recommendations</h3>
          <RiskFactors risk={risk} labelOf={labelOf} onShow={onShow} onExpected={onExpected} />
        </div>
      </div>
    </>
  );
}
