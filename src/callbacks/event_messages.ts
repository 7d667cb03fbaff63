/** Messages of event files: of tensorflow/core/util/event.proto and summary.proto, the part that is written here. */
import { Message, many, one } from '../base/protobuf/message.js';

export interface HistogramMessage {
  min: number;
  max: number;
  num: number;
  sum: number;
  sumSquares: number;
  /** The upper end of each bucket, and how many values lie in it. */
  bucketLimit: readonly number[];
  bucket: readonly number[];
}

export interface SummaryValue {
  tag: string;
  simpleValue?: number;
  histogram?: HistogramMessage;
}

export interface EventMessage {
  /** Seconds since 1970. */
  wallTime: number;
  step?: number;
  fileVersion?: string;
  summary?: { value: readonly SummaryValue[] };
}

const Histogram = new Message<HistogramMessage>({
  min: one(1, 'double'),
  max: one(2, 'double'),
  num: one(3, 'double'),
  sum: one(4, 'double'),
  sumSquares: one(5, 'double'),
  bucketLimit: many(6, 'double'),
  bucket: many(7, 'double'),
});

const Value = new Message<SummaryValue>({
  tag: one(1, 'string'),
  simpleValue: one(2, 'float'),
  histogram: one(5, () => Histogram),
});

const Summary = new Message<{ value: readonly SummaryValue[] }>({ value: many(1, () => Value) });

export const Event = new Message<EventMessage>({
  wallTime: one(1, 'double'),
  step: one(2, 'int64'),
  fileVersion: one(3, 'string'),
  summary: one(5, () => Summary),
});
