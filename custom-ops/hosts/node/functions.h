/* The functions that JavaScript calls; each says at its body what it takes. */
#ifndef TE_NODE_FUNCTIONS_H
#define TE_NODE_FUNCTIONS_H

#include "arguments.h"

/* kernels.c */
napi_value embedding_bag(napi_env env, napi_callback_info info);
napi_value embedding_bag_grad(napi_env env, napi_callback_info info);
napi_value embedding_bag_weights_grad(napi_env env, napi_callback_info info);
napi_value sparse_apply(napi_env env, napi_callback_info info);

/* many.c */
napi_value embedding_bags(napi_env env, napi_callback_info info);
napi_value sparse_apply_many(napi_env env, napi_callback_info info);

/* dense.c */
napi_value mat_mul(napi_env env, napi_callback_info info);

/* ranking.c */
napi_value top_k(napi_env env, napi_callback_info info);
napi_value scan_lists(napi_env env, napi_callback_info info);
napi_value rank_rows(napi_env env, napi_callback_info info);
napi_value fold_in(napi_env env, napi_callback_info info);

/* csr.c */
napi_value partition_csr(napi_env env, napi_callback_info info);

/* columns.c */
napi_value index_texts(napi_env env, napi_callback_info info);
napi_value find_texts(napi_env env, napi_callback_info info);
napi_value index_numbers(napi_env env, napi_callback_info info);
napi_value find_numbers(napi_env env, napi_callback_info info);
napi_value hash_texts(napi_env env, napi_callback_info info);
napi_value hash_numbers(napi_env env, napi_callback_info info);
napi_value split_texts(napi_env env, napi_callback_info info);
napi_value fingerprint_texts(napi_env env, napi_callback_info info);

/* keys.c */
napi_value find_keys(napi_env env, napi_callback_info info);
napi_value touch_keys(napi_env env, napi_callback_info info);
napi_value lowest_rows(napi_env env, napi_callback_info info);
napi_value fill_keyed_rows(napi_env env, napi_callback_info info);

/* files.c */
napi_value exchange_folders(napi_env env, napi_callback_info info);
napi_value crc32c_of(napi_env env, napi_callback_info info);

/* disk/row_files.c */
napi_value open_row_file(napi_env env, napi_callback_info info);
napi_value row_file_is_direct(napi_env env, napi_callback_info info);
napi_value start_reads(napi_env env, napi_callback_info info);
napi_value finish_reads(napi_env env, napi_callback_info info);
napi_value close_row_file(napi_env env, napi_callback_info info);

/* disk/row_slots.c */
napi_value find_slots(napi_env env, napi_callback_info info);

/* shared_tensors.c */
napi_value shared_tensor_registry(napi_env env, napi_callback_info info);
napi_value new_shared_tensor_key(napi_env env, napi_callback_info info);
napi_value read_shared_tensor(napi_env env, napi_callback_info info);
napi_value write_shared_tensor(napi_env env, napi_callback_info info);
napi_value release_shared_tensor(napi_env env, napi_callback_info info);

/* graphs.c */
napi_value build_graph(napi_env env, napi_callback_info info);
napi_value unsized_place(napi_env env, napi_callback_info info);
napi_value release_graph(napi_env env, napi_callback_info info);
napi_value graph_count(napi_env env, napi_callback_info info);

/* servers.c */
napi_value start_server(napi_env env, napi_callback_info info);
napi_value open_session(napi_env env, napi_callback_info info);
napi_value extend_session(napi_env env, napi_callback_info info);
napi_value close_session(napi_env env, napi_callback_info info);
napi_value session_info(napi_env env, napi_callback_info info);
napi_value kernels_at_work(napi_env env, napi_callback_info info);

/* runs.c */
napi_value start_runs(napi_env env, napi_callback_info info);
napi_value runs_are_done(napi_env env, napi_callback_info info);
napi_value forget_runs(napi_env env, napi_callback_info info);

/* outcomes.c */
napi_value finish_runs(napi_env env, napi_callback_info info);
napi_value finish_runs_async(napi_env env, napi_callback_info info);

#endif
