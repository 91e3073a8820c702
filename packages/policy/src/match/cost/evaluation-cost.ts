import { limits } from '@actlog/protocol';
import type { ASTNode } from '@marcbachmann/cel-js';
import { isOriginField, isOrigins } from '../argument-origins.ts';
import type { ShownSize } from '../checked-action.ts';
import {
  comprehensions,
  isRememberedChange,
  joinedNodes,
  type Method,
  methodOf,
  nodesOf,
  pathOf,
} from '../syntax-tree.ts';
import {
  comparedOf,
  eitherOf,
  functionCost,
  methodCost,
  scalar,
  sumOf,
  textOf,
  type ValueSize,
} from './function-cost.ts';

/**
 * Costs of the steps of an evaluation, measured in microseconds of one core and rounded up. They bound the worst
 * evaluation over all arguments that can be shown; most evaluations take about 1% of that.
 */
const costs = {
  /** Each condition, including an error that ends it. */
  start: 8,
  /** Each syntax node. */
  node: 0.1,
  /** Each level of a value whose type an operator or a function determines. */
  level: 0.1,
  /** Each compared value, and each character of both. */
  comparedValue: 0.15,
  comparedCharacter: 0.002,
  /** Each pair of a list value and a field of the value that the list is searched for. */
  comparedPair: 0.004,
  /** Each character of joined strings. */
  joinedCharacter: 0.002,
  /** Each error that is thrown and caught within the evaluation. */
  error: 1.6,
  /** Each item of a new list or of a comprehension's range. */
  item: 0.1,
  /** The origins of a check, made readable when a condition first reads them. */
  origins: 25,
} as const;

/** Microseconds to look up a changed text in the cache of the evaluation. */
const rememberedCost = 1;

/** Upper bounds of a step's cost and of its result's size. */
interface Bound {
  readonly cost: number;
  readonly size: ValueSize;
}

/**
 * Size of all origins of a check: a map of paths to origins. A function reads an origin only by its fields, each of which
 * is a name.
 */
const originsSize: ValueSize = {
  characters: limits.maxArgumentOrigins * limits.maxArgumentPathLength,
  values: 1 + limits.maxArgumentOrigins,
  depth: 2,
};

/** Context in which a node is evaluated. */
interface Scope {
  /** Sizes of the variables: `args`, `origins` and the variables of comprehensions. */
  readonly sizes: Readonly<Record<string, ValueSize>>;
  /** `true` within a round of a comprehension, where cached case changes are already available. */
  readonly isRound?: boolean;
}

/** Size of the identifiers that a condition can read besides the arguments. */
const namesSize = textOf(limits.maxIdentifierLength);

/**
 * Returns an upper bound of the time of one evaluation in microseconds, for arguments of at most this size.
 */
export function evaluationCost(root: ASTNode, shown: ShownSize): number {
  // Request bodies with deeper nesting are rejected.
  const args = { ...shown, depth: Math.min(limits.maxJsonDepth, shown.values) };
  const { cost } = boundOf(root, { sizes: { args, origins: originsSize } });
  const read = [...nodesOf(root)].some(isOrigins) ? costs.origins : 0;
  return Math.ceil(costs.start + read + cost);
}

function boundOf(node: ASTNode, scope: Scope): Bound {
  const { cost, size } = stepOf(node, scope);
  return { cost: cost + costs.node, size };
}

function stepOf(node: ASTNode, scope: Scope): Bound {
  switch (node.op) {
    case 'value':
      return { cost: 0, size: literalSize(node.args) };
    case 'id':
      return { cost: 0, size: scope.sizes[node.args] ?? namesSize };
    case '.':
    case '.?': {
      const from = boundOf(node.args[0], scope);
      const isName = isOriginField(node) && scope.sizes.origins === originsSize;
      return isName ? { ...from, size: namesSize } : from;
    }
    case '[]':
    case '[?]': {
      const [from, index] = node.args.map((part) => boundOf(part, scope)) as [Bound, Bound];
      return { cost: from.cost + index.cost, size: from.size };
    }
    case '?:': {
      const [test, left, right] = node.args.map((part) => boundOf(part, scope)) as [Bound, Bound, Bound];
      return { cost: test.cost + left.cost + right.cost, size: eitherOf(left.size, right.size) };
    }
    case '||':
    case '&&': {
      // An error on the left is thrown and caught, because the right side may decide alone.
      const [left, right] = node.args;
      const caught = isCertain(left) ? 0 : costs.error;
      return { cost: caught + boundOf(left, scope).cost + boundOf(right, scope).cost, size: scalar };
    }
    case '!_':
    case '-_': {
      const { cost, size } = boundOf(node.args, scope);
      return { cost: cost + typeCost(size), size: scalar };
    }
    case 'list': {
      const items = node.args.map((item) => boundOf(item, scope));
      return {
        cost: totalCost(items) + items.length * costs.item,
        size: sumOf(items.map(({ size }) => size)),
      };
    }
    case 'map': {
      const parts = node.args.flat().map((part) => boundOf(part, scope));
      return {
        cost: totalCost(parts) + parts.length * costs.item,
        size: sumOf(parts.map(({ size }) => size)),
      };
    }
    case 'call': {
      const [name, given] = node.args;
      // The argument of `has` is looked up, and each name in its path costs as much as elsewhere.
      return applied(given, scope, (sizes) => functionCost(name, sizes));
    }
    case 'rcall': {
      const method = methodOf(node) as Method;
      if (comprehensions.has(method.name)) return comprehensionBound(method, scope);
      const literals = method.given.map((one) => (one.op === 'value' ? one.args : undefined));
      const call = applied([method.receiver, ...method.given], scope, (sizes) =>
        methodCost(method.name, sizes, literals),
      );
      const isMade = scope.isRound && isRememberedChange(node) && !call.size.isOfItem;
      return isMade ? { ...call, cost: rememberedCost } : call;
    }
    case '+':
      return joinBound(joinedNodes(node), scope);
    default: {
      const [left, right] = node.args.map((part) => boundOf(part, scope)) as [Bound, Bound];
      const types = typeCost(left.size) + typeCost(right.size);
      const { cost, size } = operatorBound(node.op, left.size, right.size);
      return { cost: left.cost + right.cost + types + cost, size };
    }
  }
}

function operatorBound(op: string, left: ValueSize, right: ValueSize): Bound {
  const compared = comparedOf(left, right);
  const comparison = compared.characters * costs.comparedCharacter;
  switch (op) {
    case '==':
    case '!=':
      return { cost: compared.values * costs.comparedValue + comparison, size: scalar };
    case 'in': {
      const pairs = left.values * right.values * costs.comparedPair;
      return { cost: right.values * costs.comparedValue + comparison + pairs, size: scalar };
    }
    default:
      return { cost: comparison, size: scalar };
  }
}

/**
 * Returns the bound of joined strings, lists or numbers. Disjoint paths into the arguments together contain no more
 * than all arguments, so the full size only counts again when a path is repeated.
 */
function joinBound(joined: readonly ASTNode[], scope: Scope): Bound {
  const bounds = joined.map((one) => boundOf(one, scope));
  const layers: string[][] = [];
  const others: ValueSize[] = [];
  joined.forEach((one, index) => {
    const path = pathOf(one);
    if (path?.[0] !== 'args') {
      others.push((bounds[index] as Bound).size);
      return;
    }
    const name = `${path.join('.')}.`;
    const layer = layers.find((beside) =>
      beside.every((other) => !other.startsWith(name) && !name.startsWith(other)),
    );
    if (layer) layer.push(name);
    else layers.push([name]);
  });
  const args = scope.sizes.args ?? scalar;
  const size = sumOf([...layers.map(() => args), ...others]);
  const types = bounds.reduce((sum, one) => sum + typeCost(one.size) + typeCost(size), 0);
  const each = costs.node + size.values * costs.item + size.characters * costs.joinedCharacter;
  return { cost: totalCost(bounds) + types + (joined.length - 1) * each, size };
}

/**
 * Returns the bound of a comprehension. The extra cost of a round compared to a round with an empty item grows at least
 * linearly with the item. Thus all rounds together cost no more than one round with all items combined.
 */
function comprehensionBound({ name, receiver, given }: Method, scope: Scope): Bound {
  const range = boundOf(receiver, scope);
  const [variable, ...steps] = given;
  // The container of the items is also a value.
  const rounds = Math.max(0, range.size.values - 1);
  const round = (item: ValueSize) => {
    const sizes = { ...scope.sizes, [String(variable?.args)]: { ...item, isOfItem: true } };
    return steps.map((step) => boundOf(step, { sizes, isRound: true }));
  };
  const remembered = steps.flatMap((step) => [...nodesOf(step)].filter(isRememberedChange));
  const once = remembered.map((change) => boundOf(change, scope));
  const empty = round(scalar);
  // For all items combined, each level and each value is visited once.
  const full = round({ ...range.size, depth: range.size.values });
  const isCaught = (name === 'all' || name === 'exists') && !steps.every(isCertain);
  const each = totalCost(empty) + costs.item + (isCaught ? costs.error : 0);
  const cost = range.cost + totalCost(once) + rounds * each + totalCost(full);
  if (name === 'filter') return { cost, size: range.size };
  if (name !== 'map') return { cost, size: scalar };
  const [emptyMade, fullMade] = [empty.at(-1)?.size ?? scalar, full.at(-1)?.size ?? scalar];
  return {
    cost,
    size: {
      characters: rounds * emptyMade.characters + fullMade.characters,
      values: rounds * emptyMade.values + fullMade.values + 1,
      depth: fullMade.depth + 1,
    },
  };
}

function applied(
  given: readonly ASTNode[],
  scope: Scope,
  own: (sizes: readonly ValueSize[]) => Bound,
): Bound {
  const bounds = given.map((one) => boundOf(one, scope));
  const sizes = bounds.map(({ size }) => size);
  const types = sizes.reduce((sum, size) => sum + typeCost(size), 0);
  const { cost, size } = own(sizes);
  return { cost: totalCost(bounds) + types + cost, size };
}

function totalCost(bounds: readonly Bound[]): number {
  return bounds.reduce((sum, { cost }) => sum + cost, 0);
}

function typeCost({ depth }: ValueSize): number {
  return depth * costs.level;
}

function literalSize(value: unknown): ValueSize {
  if (typeof value === 'string') return textOf(value.length);
  return value instanceof Uint8Array ? textOf(value.length) : scalar;
}

/** `true` if a node always evaluates to a boolean without an error, for any shown arguments. */
function isCertain(node: ASTNode): boolean {
  switch (node.op) {
    case 'value':
      return typeof node.args === 'boolean';
    case '!_':
      return isCertain(node.args);
    case '||':
    case '&&':
      return node.args.every(isCertain);
    case '==':
    case '!=':
      return node.args.every(({ op }) => op === 'value' || op === 'id');
    default:
      return false;
  }
}
