/* SPDX-License-Identifier: Apache-2.0
 *
 * Interface between the runtime and a collectives library. A device is named by
 * its index, a position ("mla_idx") by its place in the topology, a routing id
 * by its number in the network of devices.
 *
 * The large structures describe communicators of one release; only
 * enc_host_mem_t, nec_version_info_t and nec_pod_type_t are used by the
 * functions.
 */
#ifndef NRT_NEC_H
#define NRT_NEC_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "nrt/nrt_status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NEC_MAX_CHANNELS 32
#define NEC_MAX_NR_CHANNEL_CHUNKS 32
#define NEC_MAX_FOLD_N 16
#define NEC_MAX_COMM_N 12
#define NEC_MAX_NET_BUFFERS 24
#define NEC_CACHE_LINE_SIZE 128
#define NEC_NET_CONNECTOR_RANK (-1)
#define NEC_NET_MLA_DEV (-1)
#define NEC_POD_MLA_DEV (-2)
#define NEC_UNKNOWN_RANK (-3)
#define NEC_UNKNOWN_MLA_DEV (-3)
#define NEC_HIER_CC_PIPELINE_STAGE_N 3
#define NCCL_NET_NEURON_MAX_REQUESTS 128
#define NEC_MAX_STREAM_N 4
#define NEC_KANGARING_MAX_NUM_RANKS 256
#define KANGARING_NUM_SENG_PER_DEV 4
#define KANGARING_NUM_TPB_PER_DEV 8
#define KANGARING_MAX_SECONDARIES 3
#define ENC_MESH_MAX_NUM_EVENTS 64
#define KiB 1024
#define MiB 1048576
#define GiB 1073741824
#define ENC_MAX_OP_TYPES 13
#define ENC_MAX_MESH_SUBTYPES 20
#define ENC_MESH_MAX_NUM_DEVICES 128
#define ENC_PROXY_HISTOGRAM_OUTPUT_PATH_LENGTH_MAX 128

typedef uint64_t dma_addr_t;

typedef enum ofi_comm_type {
  NET_SEND_COMM = 0,
  NET_RECV_COMM = 1,
  NET_RECV_LISTEN_COMM = 2,
  LOCAL_RECV_COMM = 3,
  LOCAL_SEND_COMM = 4
} ofi_comm_type_t;

enum enc_comm_type { H_COMM_INTRA_ID = 0, H_COMM_INTER_ID = 1, H_COMM_MAX_ID = 2 };

typedef enum nec_pod_type {
  NEC_POD_TYPE_NONE = 0,
  NEC_POD_TYPE_P2P = 1,
  NEC_POD_TYPE_SWITCH = 2,
  NEC_POD_TYPE_INVALID = 3
} nec_pod_type_t;

typedef enum enc_pattern {
  ENC_PATTERN_RING = 0,
  ENC_PATTERN_MESH = 1,
  ENC_PATTERN_INVALID = 2
} enc_pattern_t;

typedef enum enc_net_connectivity {
  ENC_CONNECTIVITY_MESH = 0,
  ENC_CONNECTIVITY_RDH = 1,
  ENC_CONNECTIVITY_DEFAULT = 2
} enc_net_connectivity_t;

typedef enum enc_topology_mode {
  ENC_TOPO_NULL = 0,
  ENC_TOPO_4_DEVS_IN_ROW = 1,
  ENC_TOPO_4_DEVS_IN_COLUMN = 2
} enc_topology_mode_t;

enum SEngine { S0 = 0, S1 = 1, S2 = 2, S3 = 3, SENGS_PER_DIE = 2, SENGS_PER_MLA = 4 };

typedef enum metaring_type {
  RING = 0,
  KANGARING = 1,
  SINGLE_CYCLE_RING = 2,
  RDH = 3,
  INVALID_METARING = 4
} metaring_type_t;

typedef enum enc_mesh_event_type {
  EVT_SYNC = 0,
  EVT_GLOBAL_HNDSHK = 1,
  EVT_LOCAL_HNDSHK = 2,
  EVT_INTER_GRP_BRDCST = 3,
  EVT_FUNCTION_BARRIER_FIRST_COLL = 4,
  EVT_FUNCTION_BARRIER_LAST_COLL = 5,
  EVT_REDUCE_LOCAL_HNDSHK = 6,
  EVT_INTRA_GRP_BRDCST = 7,
  ENC_COMMON_NUM_EVENT_TYPE = 8,
  ENC_MESH_NUM_EVENT_START = 8,
  EVT_REDUCE_COPY = 8,
  EVT_REDUCE_COPY_2 = 9,
  EVT_REDUCE_WRITE = 10,
  EVT_INTER_GRP_BRDCST_2 = 11,
  EVT_LOCAL_AND_POD_GRP_BRDCST = 12,
  EVT_LOCAL_AND_POD_GRP_BRDCST_2 = 13,
  ENC_MESH_NUM_EVENT_TYPE = 14,
  ENC_A2A_NUM_EVENT_START = 14,
  EVT_LOCAL_HNDSHK_1 = 14,
  EVT_LOCAL_HNDSHK_2 = 15,
  EVT_GLOBAL_HNDSHK_1 = 16,
  EVT_INTER_GRP_BRDCST_1 = 17,
  EVT_INTRA_GRP_BRDCST_1 = 18,
  EVT_2DEV_BRDCST = 19,
  EVT_2DEV_HNDSHK = 20,
  EVT_COPY_FROM_HOST = 21,
  ENC_A2A_NUM_EVENT_TYPE = 22,
  ENC_RDH_NUM_EVENT_START = 22,
  EVT_RH_STEP_0 = 22,
  EVT_RH_STEP_1 = 23,
  EVT_RH_STEP_2 = 24,
  EVT_RH_STEP_3 = 25,
  EVT_RH_STEP_4 = 26,
  EVT_RH_STEP_5 = 27,
  EVT_RH_STEP_6 = 28,
  EVT_RH_STEP_7 = 29,
  EVT_RH_STEP_8 = 30,
  EVT_RH_STEP_9 = 31,
  EVT_RDH_LOCAL_HANDSHAKE = 31,
  EVT_RDH_AXES_HANDSHAKE = 32,
  EVT_RD_STEP_0 = 33,
  EVT_RD_STEP_1 = 34,
  EVT_RD_STEP_2 = 35,
  EVT_RD_STEP_3 = 36,
  EVT_RD_STEP_4 = 37,
  EVT_RD_STEP_5 = 38,
  EVT_RD_STEP_6 = 39,
  EVT_RDH_AXES_HANDSHAKE_2 = 40,
  EVT_1DEV_RDH_STEP_1 = 41,
  EVT_1DEV_RDH_STEP_2 = 42,
  EVT_1DEV_RD_STEP_1 = 43,
  EVT_1DEV_RD_STEP_2 = 44,
  EVT_1DEV_RH_STEP_1 = 45,
  EVT_2DEV_RD_STEP_0 = 46,
  EVT_2DEV_RD_STEP_1 = 47,
  EVT_2DEV_RD_STEP_2 = 48,
  EVT_2DEV_RD_STEP_3 = 49,
  EVT_2DEV_RD_STEP_4 = 50,
  EVT_RDH_LOCAL_PEER_HANDSHAKE = 51,
  ENC_RDH_NUM_EVENT_TYPE = 52
} enc_mesh_event_type_t;

typedef enum enc_alg_mesh_type {
  ENC_ALG_FULL_MESH = 0,
  ENC_ALG_GROUPED_MESH = 1,
  ENC_ALG_MESH_TRN2 = 2,
  ENC_ALG_MESH_SWITCH = 3,
  ENC_ALG_MESH_INVALID = 4
} enc_alg_mesh_type_t;

typedef enum net_addr_mark {
  NET_TRANSFER = 0,
  NET_OP_COMPLETE = 1,
  EXEC_COMPLETE = 2
} net_addr_mark_t;

/* Parts of the collectives library, of the device driver layer, and of what follows. */
struct enc_net_connector;
struct enc_channel_context;
struct encd_dma_channel;
struct enc_peer_info;
struct enc_comm;
struct encd_alg_metaring;
struct encd_alg_mesh_subtype;
struct enc_alg_mesh;
struct enc_nccl_comm_node;
struct enc_comm_info;
struct encd_alg_mesh;
struct encd_alg_hier;
struct bp_barrier;
struct encd_comm;
struct bananaphone;
struct bp_handle;
typedef struct enc_comm* nec_comm_t;
typedef struct enc_channel* nec_channel_t;

/* A counter on its own cache line. */
struct enc_net_host_memory_index {
  union {
    volatile uint32_t index;
    char pad[128];
  };
};

/* Counters of a connection, one per fold. */
struct enc_net_host_memory {
  union {
    struct {
      struct enc_net_host_memory_index post_recv[16];
    } recv;
    struct {
      struct enc_net_host_memory_index post_send[16];
    } send;
  };
};

/* Host memory that the device can address. */
typedef struct enc_host_mem {
  void* mem_handle; /* driver's handle */
  void* va;         /* CPU address */
  dma_addr_t pa;    /* device address */
  size_t size;
} enc_host_mem_t;

typedef struct enc_host_mem_shared {
  enc_host_mem_t mem;
  int refcnt;
} enc_host_mem_shared_t;

/* The network side of a channel. */
struct enc_net_connector {
  int fold_n;
  enc_host_mem_t net_host_mem;
  enc_host_mem_shared_t* dynamic_input_host_mem;
  void* devmem_res;
  void* nccl_mhandle;
  void* inc_recv_sem_nccl_mhandle;
  uint32_t* inc_recv_sem_values_buffer;
  void* inc_recv_sem_values_buffer_mhandle;
  void* nccl_connector;
};

/* A connection between neighbours of a ring or mesh. */
struct enc_channel {
  int id;
  enc_pattern_t pattern;
  struct enc_net_connector* net_recv;
  struct enc_net_connector* net_send;
  void* devmem_res;
  void* two_step_pod_mesh_devmem_res;
  void* devmem_gw_buf_res;
  void* nccl_mhandle;
  dma_addr_t gw_recv_buffer;
  dma_addr_t gw_send_buffer;
  struct enc_channel_context* ch_ctx;
  struct encd_dma_channel* drv_channel;
};

/* Where a rank runs. */
struct enc_peer_info {
  int neuron_dev;
  int rid;
  int tpb_index;
  int pod_node_id;
};

/* Place of this rank among all ranks. */
struct enc_comm_info {
  int neuron_dev;
  int rank;
  int rank_n;
  int local_rank_n;
  int local_rack_rank_n;
  int node;
  int node_n;
  enc_topology_mode_t enc_topo_mode;
  bool enable_pod;
  bool use_net;
  int pod;
  int pod_n;
  int pod_node;
  int pod_node_n;
  struct enc_peer_info* peers;
};

struct enc_ring {
  int prev;
  int next;
  int* user_ranks;
  bool duplicate;
};

struct enc_kangaring {
  int vnc;
  int logical_path[256];
  int prev;
  int next;
  int port;
  int peer_rmtv;
  int peer_rmtv2;
  int peer_local;
  int next_peer_rmtv;
  bool is_primary;
  bool is_next_pcie;
  bool duplicate;
  bool pattern2;
};

/* Rings over several paths. */
struct enc_alg_metaring {
  int channel_n;
  struct enc_channel channels[32];
  struct enc_ring ring_ranks[32];
  struct enc_kangaring kangaring_ranks[32];
  metaring_type_t type;
  bool one_rank_per_device;
  bool is_hybrid_ring;
  bool tokens_exchanged;
  bool deadlock_free_rank_list;
  struct enc_comm* comm;
  struct encd_alg_metaring* drv_alg;
  bool skip_send;
  bool skip_recv;
};

struct enc_mesh_nbr_grp {
  int* ranks;
  int ranks_n;
};

struct enc_mesh_event {
  struct enc_mesh_nbr_grp src_neighbor_grp;
  struct enc_mesh_nbr_grp dst_neighbor_grp;
  bool valid;
  enc_mesh_event_type_t evt_type;
};

struct enc_alg_mesh_subtype {
  struct enc_mesh_event events[64];
  int num_events;
  struct encd_alg_mesh_subtype* drv_mesh;
  struct enc_alg_mesh* mesh;
  size_t op_max_limit[13];
  size_t op_min_limit[13];
  size_t op_max_limit_sbuf[13];
  size_t op_min_limit_sbuf[13];
  bool no_inplace_support;
  bool is_use_chnl_buffer;
  bool is_rdh;
  bool is_single_step_mesh;
  bool is_two_step_pod_mesh;
  bool is_latency_opt;
  bool is_bw_opt;
  bool is_rmv_dst_routing;
  uint32_t alltoall_iteration;
};

/* Everyone to everyone. */
struct enc_alg_mesh {
  enc_alg_mesh_type_t mesh_type;
  union {
    struct {
      uint32_t devid_to_rankid[128];
      bool is_multi_chip;
    } trn2;
    struct {
      int num_non_net_node_local_groups;
    } trn1;
    struct {
      bool root_rank;
      int num_intra_group_roots;
      int local_root_ids[128];
      int global_root_ids[128];
    } inf2;
  };
  int group_id;
  int num_groups;
  struct enc_channel channel;
  struct enc_alg_mesh_subtype mesh_subtype[20];
  size_t max_chbuf_space_per_group;
  size_t max_chbuf_space_per_seng;
  size_t max_chbuf_space_per_rank;
  bool double_buffer;
  bool build_rdh;
  bool rdh_double_buffer;
  void* rdh_devmem_res;
  bool use_2dev_proxy;
  bool tokens_exchanged;
  bool use_net;
  struct enc_nccl_comm_node* nccl_comm_node;
  struct enc_comm_info* ci;
  struct enc_comm* comm;
  struct encd_alg_mesh* drv_alg;
  enc_host_mem_t alltoallv_host_input;
};

/* Inside a server, then between servers. */
struct enc_alg_hier {
  struct {
    struct enc_nccl_comm_node* nccl_comm_node;
    struct enc_comm_info ci;
    struct enc_alg_metaring ring;
    struct enc_alg_metaring kangaring;
    struct enc_alg_mesh mesh;
  } intra;
  struct {
    struct enc_nccl_comm_node* nccl_comm_node;
    struct enc_comm_info ci;
    struct enc_alg_metaring ring;
    struct enc_alg_metaring rdh;
    struct enc_alg_mesh mesh;
  } inter;
  struct {
    struct {
      struct enc_nccl_comm_node* nccl_comm_node;
      struct enc_comm_info ci;
      struct enc_alg_metaring ring;
    } stage[3];
  } pipeline;
  void* devmem_res;
  struct enc_comm* comm;
  struct encd_alg_hier* drv_alg;
};

/* What the collectives library finds out about a communicator. */
typedef struct nccl_comm_info {
  uint64_t cluster_id;
  time_t epoch;
  int neuron_dev;
  int rank;
  int rank_n;
  int local_rank_n;
  int local_rack_rank_n;
  int node;
  int node_n;
  bool enable_pod;
  bool use_net;
  int pod;
  int pod_n;
  int pod_node;
  int pod_node_n;
  struct enc_peer_info* peers;
  int channel_n;
  struct enc_ring rings[32];
  int kangaring_channel_n;
  int* kangaring_paths[32];
  int mla_cycle_n;
  int* mla_cycles[32];
} nccl_comm_info_t;

typedef struct enc_nccl_comm_node {
  void* nccl_comm;
  char* key;
  size_t key_sz;
  bool disable_graph;
  bool global_nccl_comm_node;
  int refcnt;
  uint32_t stream_id;
  uint32_t context_id;
  uint32_t num_local_participants;
  uint32_t num_local_leaders;
  uint32_t my_local_leader;
  uint32_t* local_participants;
  uint32_t* local_leaders;
  struct bp_barrier* local_barrier;
  bool intra_pod_interface;
} enc_nccl_comm_node_t;

typedef struct enc_proxy_histogram_config {
  bool enable;
  size_t bucket_usecs;
  size_t num_buckets;
  size_t per_neff_warmup;
  size_t warmup;
  char output_path[128];
} enc_proxy_histogram_config_t;

/* The device a communicator is made for. */
typedef struct enc_neuron_device_info {
  int nec_dev_id;
  int mla_idx;
  int tpb_idx;
  int host_device_id;
  int routing_id;
  uint64_t pod_id;
  nec_pod_type_t pod_type;
  uint32_t pod_node_id;
  uint32_t virtual_server_id;
  enc_proxy_histogram_config_t histogram_config;
} enc_neuron_device_info_t;

/* Communicator of one group of ranks, with every algorithm it can use. */
struct enc_comm {
  struct enc_nccl_comm_node* nccl_comm_node;
  struct enc_comm_info ci;
  int id;
  int stream_id;
  struct enc_alg_metaring ring;
  struct enc_alg_metaring kangaring;
  struct enc_alg_metaring rdh;
  struct enc_alg_hier hier;
  struct enc_alg_mesh mesh;
  int net_conn_count;
  void* net_connector_devmem_res[2 * 12];
  int nr_channel_chunks;
  size_t chunk_size;
  struct encd_comm* drv_comm;
  char topology[1024];
};

/* Communicator over all ranks. */
struct enc_glb_comm {
  uint32_t g_device_id;
  uint32_t g_device_cnt;
  uint32_t vtpb_idx;
  int nec_dev_id;
  int mla_idx;
  int host_device_id;
  int routing_id;
  uint32_t virtual_server_id;
  nec_pod_type_t pod_type;
  uint32_t pod_node_id;
  uint32_t pod_sz;
  uint64_t pod_id;
  const char* root_comm_id;
  bool check_sigs;
  uint32_t* rank_nodes;
  uint32_t* local_ranks;
  enc_nccl_comm_node_t nccl_comm_node;
  struct bananaphone* local_rings;
  struct bp_handle* local_peer_handles;
  uint32_t* inc_recv_sem_values_buffer;
  size_t inc_recv_sem_values_buffer_size;
  struct enc_comm comm;
  void* inter_rdh_devmem_res[4];
  void* intra_rdh_devmem_res[4];
  void* mesh_devmem_res_per_rg[(4 * 12) * H_COMM_MAX_ID];
  void* rdh_devmem_res_per_rg[4 * 12];
  void* gateway_devmem_res[4][32];
  pthread_mutex_t gcomm_setup_mtx;
  void* proxy_queue;
  void* device_barrier_table;
};

/* Source of a network transfer. */
typedef struct net_src_addr {
  uint32_t net_op_idx;
  int complete;
  dma_addr_t dev_addr;
  void* host_addr;
  void* nccl_mhandle;
  uint32_t size;
  net_addr_mark_t mark;
  void* proxy_histogram_tag;
  int dst_rank;
  void* dst_addr;
  void* dst_mhandle;
} net_src_addr_t;

/* Destination of a network transfer. */
typedef struct net_dest_addr {
  uint32_t net_op_idx;
  int complete;
  dma_addr_t dev_addr;
  void* host_addr;
  void* nccl_mhandle;
  uint32_t size;
  net_addr_mark_t mark;
  int src_rank;
} net_dest_addr_t;

/* Network part of a collective operation. */
typedef struct net_ops_info {
  uint16_t sema_shift_offset;
  bool early_send_completion;
  bool early_recv_posting;
  volatile uint32_t* inc_send_handshake;
  volatile uint32_t* inc_send_complete;
  volatile uint32_t* inc_recv_handshake;
  volatile uint32_t* inc_recv_complete;
  uint32_t tx_entry_cnt;
  uint32_t rx_entry_cnt;
  uint32_t net_idx_loop_size;
  uint32_t initial_send_credits;
  uint32_t ending_recv_credits;
  size_t data_type_sz;
  bool is_dynamic_send_recv_sz;
  bool variable_peer;
  bool add_to_histogram;
  void* enc_channel;
} net_ops_info_t;

/* Version of the collectives library. */
typedef struct nec_version_info {
  uint64_t major;
  uint64_t minor;
  uint64_t patch;
  uint64_t maintenance;
  char git_hash[16];
  uint64_t compatibility_version; /* has to match */
  uint8_t future_fields[];        /* may grow */
} nec_version_info_t;

/* --- what the runtime offers to the collectives library; usable in every state --- */

/* Raises a device semaphore: the register behind sem_inc_addr adds what is stored to it. */
void nec_inc_semaphore(volatile uint32_t* sem_inc_addr, uint32_t val);

/* Bytes this rank sends to dst_rank. */
size_t nec_get_dynamic_send_size_bytes(enc_host_mem_t* dyn_input, size_t data_type_sz, int dst_rank,
                                       int rank_n);

/* Where they start in the send buffer. */
size_t nec_get_dynamic_send_offset_bytes(enc_host_mem_t* dyn_input, size_t data_type_sz,
                                         int dst_rank, int rank_n);

/* Where the bytes of src_rank go in the receive buffer. */
size_t nec_get_dynamic_recv_offset_bytes(enc_host_mem_t* dyn_input, size_t data_type_sz,
                                         int src_rank, int rank_n);

/* Notes how many bytes came from src_rank. */
void nec_set_recv_size_bytes(enc_host_mem_t* dyn_input, size_t recv_size_bytes, size_t data_type_sz,
                             int src_rank, int rank_n);

/* Number of devices; the first array_size indexes are written. */
int nec_get_device_count(int* available_devices_array, uint32_t array_size);

/* PCI address of a device; 0 or a negative errno. */
int nec_get_device_pci_bdf(int neuron_dev, uint32_t* domain, uint32_t* bus_num, uint8_t* pci_slot,
                           uint8_t* dev_func);

/* Physical cores per logical core. NRT_INVALID: NULL. */
NRT_STATUS nec_get_virtual_core_size(uint32_t* virtual_core_size);

/* Version of the collectives library. Not exported. */
NRT_STATUS nec_get_version_info(nec_version_info_t* version_info);

/* Tells the topology as seen from a device: count pairs of position and host device id.
 * NRT_INVALID: NULL, a bad count or a device that is not ours. */
NRT_STATUS nec_build_port_and_rid_map(int local_nec_dev_id, int* mla_indexes, int* host_device_ids,
                                      int count);

/* Whether the position is taken by a device of this process. */
bool nec_is_mla_available(int local_nec_dev_id, int mla_idx);

/* Routing id at a position; -1 when unknown. */
int nec_mla_idx_to_rid(int local_nec_dev_id, int mla_idx);

/* Position of a routing id; -1 when unknown. */
int nec_rid_to_mla_idx(int local_nec_dev_id, int rid);

/* Position of the neighbour behind a port; -1 when there is none. */
int nec_get_peer_mla_idx(int local_nec_dev_id, int mla_idx, int port);

/* Node reached over a number of ports from a node of a pod; 0, or a negative errno. */
int nec_get_p2p_pod_peer_node(uint32_t nec_dev_id, int node, uint32_t port_distance,
                              int* peer_node);

/* Whether one node of a pod reaches another directly. */
NRT_STATUS nec_pod_node_can_access_peer_node(nec_pod_type_t pod_type, uint32_t local_rid,
                                             uint32_t local_node_id, uint32_t remote_rid,
                                             uint32_t remote_node_id, int* can_access_peer);

/* Writes a line to the driver's log. */
void nec_ndl_printk(char* str, uint32_t size, uint32_t action);

#ifdef __cplusplus
}
#endif

#endif /* NRT_NEC_H */
