#include "server/api/replies.h"

static const pl_reply_field fault_fields[] = {
    {"pointer", "string", "JSON pointer into the body, or /query/KEY"},
    {"code", "string", "kind, as a word"},
    {"got", "string", "value found"},
    {"expected", "string", "value expected"},
    {"hint", "string", "advice, or empty"},
    {0},
};
static const pl_reply_field validation_fields[] = {
    {"valid", "boolean", "always true; faults are a problem reply"},
    {"estimate", "#Estimate", "cost of a run"},
    {"bodies", "[]#Body", "bodies and their sizes"},
    {"warnings", "[]#Warning", "warnings its session would start with"},
    {"remarks", "[]string", "notes on unusual but harmless properties"},
    {"geometry?", "#Geometry?", "with geometry=true; null: larger than 8 MiB"},
    {0},
};
static const pl_reply_field geometry_fields[] = {
    {"topology", "#Topology", "as for a session"},
    {"surface", "[]integer", "vertices used by drawn elements"},
    {"positions", "[]number", "their rest positions, three numbers per vertex, m"},
    {0},
};
static const pl_reply_field estimate_fields[] = {
    {"vertices", "integer", "vertices of all bodies"},
    {"tets", "integer", "tetrahedra of all bodies"},
    {"frames", "integer?", "number of the last frame; null: endless"},
    {"memory_bytes", "number", "peak memory, bytes"},
    {"gpu_memory_bytes", "number", "GPU memory without the driver's; 0 on the CPU"},
    {"setup_seconds", "number", "time before the first step, on this machine"},
    {"seconds_per_frame", "number",
     "time of a frame on one core, corrected by the measured times of such runs on this machine"},
    {"frame_bytes", "number", "size of a stored frame"},
    {"cores", "integer", "useful number of cores: the maximum that the session gets by default"},
    {0},
};
static const pl_reply_field mesh_fields[] = {
    {"hash", "string", "SHA-256 of the file"},
    {"bytes", "integer", "size of the file"},
    {"format", "string", "format of the file"},
    {"vertices", "integer?", "null for the TetGen file without vertices"},
    {"tets", "integer?", "null for the TetGen file without elements"},
    {"triangles", "integer", "triangles of sheets"},
    {"edges", "integer", "edges of ropes"},
    {"box", "[][]number?", "smallest and largest coordinates, m"},
    {"volume", "number?", "m^3"},
    {"area?", "number", "m^2"},
    {"length?", "number", "m"},
    {"quality", "#Quality?", "quality of tetrahedra; 1 is regular"},
    {"components", "integer?", "connected parts"},
    {"tags", "[]#MeshTag", "groups that scenes may name"},
    {"fields", "[]#MeshField", "fields of element values"},
    {"repaired", "integer", "tetrahedra with reordered vertices, from negative volume"},
    {"unused", "integer", "nodes without an element"},
    {"faults", "[]#Fault", "empty for a stored file"},
    {"faults_total", "integer", "0"},
    {0},
};
static const pl_reply_field mesh_item_fields[] = {
    {"hash", "string", "SHA-256 of the file"},
    {"bytes", "integer", "size of the file"},
    {"format", "string", "format of the file"},
    {"vertices", "integer?", "as in the upload's reply"},
    {"tets", "integer?", "as in the upload's reply"},
    {"triangles", "integer?", "as in the upload's reply"},
    {"edges", "integer?", "as in the upload's reply"},
    {"uploaded", "string", "RFC 3339"},
    {"last_used", "string", "time of the last upload or session, RFC 3339"},
    {"groups", "[]string", "your groups that hold it"},
    {"yours", "boolean", "true if you hold it yourself"},
    {0},
};
static const pl_reply_field mesh_list_fields[] = {
    {"items", "[]#MeshItem", "by hash"},
    {"next", "string?", "cursor of the next page"},
    {0},
};
static const pl_reply_field quality_fields[] = {
    {"worst", "number?", "smallest quality"},
    {"mean", "number?", "mean quality"},
    {0},
};
static const pl_reply_field mesh_tag_fields[] = {
    {"tag", "integer", "number of the group"},
    {"dimension", "integer", "dimension of its elements"},
    {"name", "string?", "name, if it has one"},
    {0},
};
static const pl_reply_field mesh_field_fields[] = {
    {"name", "string", "name for a body's fields"},
    {"components", "integer", "values per element"},
    {0},
};
static const pl_reply_field gallery_scene_fields[] = {
    {"name", "string", "name in its address"},
    {"title", "string", "name of the scene"},
    {"scene", "#Scene", "the scene itself"},
    {"links", "{}string", "addresses of the scene"},
    {0},
};
static const pl_reply_field gallery_fields[] = {
    {"items", "[]#GalleryScene", "by name"},
    {"next", "string?", "null: the list is complete"},
    {0},
};

/* One per line, so that additions merge. */
/* clang-format off */
const pl_reply_table pl_replies_of_scenes[] = {
    {"Fault", "One mistake in a request.", fault_fields},
    {"Validation", "A scene that can be run.", validation_fields},
    {"Geometry", "Bodies of a scene before it runs.", geometry_fields},
    {"Estimate", "The estimated cost of a run.", estimate_fields},
    {"Mesh", "Contents of a mesh file.", mesh_fields},
    {"MeshItem", "A mesh in a list.", mesh_item_fields},
    {"MeshList", "A page of meshes.", mesh_list_fields},
    {"Quality", "Shape of the tetrahedra.", quality_fields},
    {"MeshTag", "A group of elements.", mesh_tag_fields},
    {"MeshField", "Values of elements.", mesh_field_fields},
    {"GalleryScene", "An example scene.", gallery_scene_fields},
    {"Gallery", "Example scenes.", gallery_fields},
    {"Scene", "A scene; GET /v1/schema/scene has its schema.", NULL},
    {0},
};
/* clang-format on */
