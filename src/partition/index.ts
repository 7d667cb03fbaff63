/** The planner's public names. */
export { checkPlan } from './check_plan.js';
export { planEmbedding } from './planner.js';
export { readPlan } from './read_plan.js';
export type { ClusterCalls, ClusterPrediction, ClusterResource, ServerPrediction } from './cluster/cluster_data.js';
export type { PlanNetwork, PlanNetworkArgs } from './cluster/network.js';
export type { PlanMachine } from './machine.js';
export type {
  DataParallelTable,
  EmbeddingPlan,
  Groups,
  PhysicalTable,
  PlanData,
  PredictedLoad,
  RankPlan,
  RowModulo,
  RowRange,
  RowShard,
  Span,
  StrategyName,
  TableParallelPlan,
  TableParallelRank,
  TableShard,
} from './plan.js';
export type { PlanEmbeddingArgs, RowSharding } from './plan_request.js';
export type { PlanTableArgs } from './plan_table.js';
