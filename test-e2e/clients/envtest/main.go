// A test of an operator as its authors write it: envtest starts the two programs that KUBEBUILDER_ASSETS names, installs a
// definition and a webhook, and a manager reconciles custom resources. Says a line for each thing that holds; exits with 1
// at the first that does not.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const (
	finalizer = "example.com/kept"
	within    = 60 * time.Second
)

var (
	kind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Notebook"}
	yes  = ptr.To(true)
)

func main() {
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr), zap.UseDevMode(true)))
	environment := &envtest.Environment{
		CRDs:                     []*apiextensions.CustomResourceDefinition{definition()},
		WebhookInstallOptions:    envtest.WebhookInstallOptions{ValidatingWebhooks: webhooks()},
		ControlPlaneStartTimeout: within,
		ControlPlaneStopTimeout:  within,
	}
	err := run(environment)
	if stopped := environment.Stop(); err == nil {
		err = stopped
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "failed:", err)
		os.Exit(1)
	}
	fmt.Println("stopped")
}

func run(environment *envtest.Environment) error {
	config, err := environment.Start()
	if err != nil {
		return err
	}
	fmt.Println("started")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended, err := manage(ctx, config, environment.WebhookInstallOptions)
	if err != nil {
		return err
	}
	direct, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		does func(context.Context, client.Client, *envtest.Environment) error
	}{
		{"defaulted and reconciled", reconciled},
		{"refused by its schema", refusedBySchema},
		{"refused by a webhook", refusedByWebhook},
		{"applied by two owners", applied},
		{"finalized and collected in order", finalized},
		{"another user has no rights", withoutRights},
	} {
		if err := step.does(ctx, direct, environment); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Println(step.name)
	}
	cancel()
	return <-ended
}

func definition() *apiextensions.CustomResourceDefinition {
	object := func(properties map[string]apiextensions.JSONSchemaProps) apiextensions.JSONSchemaProps {
		return apiextensions.JSONSchemaProps{Type: "object", Properties: properties}
	}
	spec := object(map[string]apiextensions.JSONSchemaProps{
		"pages": {Type: "integer", Default: &apiextensions.JSON{Raw: []byte("32")}, Maximum: ptr.To(100.0)},
		"title": {Type: "string"},
	})
	spec.XValidations = apiextensions.ValidationRules{{
		Rule:    "!has(self.title) || self.title.size() < self.pages",
		Message: "a title has fewer letters than there are pages",
	}}
	root := object(map[string]apiextensions.JSONSchemaProps{
		"spec":   spec,
		"status": object(map[string]apiextensions.JSONSchemaProps{"written": {Type: "integer"}}),
	})
	return &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "notebooks.example.com"},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: kind.Group,
			Scope: apiextensions.NamespaceScoped,
			Names: apiextensions.CustomResourceDefinitionNames{Plural: "notebooks", Kind: kind.Kind},
			Versions: []apiextensions.CustomResourceDefinitionVersion{{
				Name: kind.Version, Served: true, Storage: true,
				Subresources: &apiextensions.CustomResourceSubresources{Status: &apiextensions.CustomResourceSubresourceStatus{}},
				Schema:       &apiextensions.CustomResourceValidation{OpenAPIV3Schema: &root},
			}},
		},
	}
}

func webhooks() []*admissionv1.ValidatingWebhookConfiguration {
	path, none := "/validate", admissionv1.SideEffectClassNone
	return []*admissionv1.ValidatingWebhookConfiguration{{
		ObjectMeta: metav1.ObjectMeta{Name: "notebooks"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name:                    "notebooks.example.com",
			AdmissionReviewVersions: []string{"v1"},
			SideEffects:             &none,
			ClientConfig:            admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "default", Name: "w", Path: &path}},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{kind.Group}, APIVersions: []string{"*"}, Resources: []string{"notebooks"}},
			}},
		}},
	}}
}

// Starts a manager that is the leader, serves the webhook and reconciles.
func manage(ctx context.Context, config *rest.Config, hooks envtest.WebhookInstallOptions) (<-chan error, error) {
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics:                 server.Options{BindAddress: "0"},
		LeaderElection:          true,
		LeaderElectionID:        "notebooks",
		LeaderElectionNamespace: "default",
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: hooks.LocalServingHost, Port: hooks.LocalServingPort, CertDir: hooks.LocalServingCertDir,
		}),
	})
	if err != nil {
		return nil, err
	}
	manager.GetWebhookServer().Register("/validate", &webhook.Admission{Handler: admission.HandlerFunc(validate)})
	notebooks := &notebookReconciler{manager.GetClient()}
	if err := ctrl.NewControllerManagedBy(manager).Named("notebooks").For(notebook("", "")).Owns(&corev1.ConfigMap{}).Complete(notebooks); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	select {
	case <-manager.Elected():
	case err := <-ended:
		return nil, err
	case <-time.After(within):
		return nil, fmt.Errorf("not elected")
	}
	return ended, eventually(ctx, func(context.Context) (bool, error) {
		return manager.GetWebhookServer().StartedChecker()(&http.Request{}) == nil, nil
	})
}

func validate(_ context.Context, request admission.Request) admission.Response {
	if request.Name == "forbidden" {
		return admission.Denied("of this name there is none")
	}
	return admission.Allowed("")
}

type notebookReconciler struct{ client.Client }

// A page for each notebook; one that goes is held until its page is gone.
func (r *notebookReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	one := notebook("", "")
	if err := r.Get(ctx, request.NamespacedName, one); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	page := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: one.GetName(), Namespace: one.GetNamespace()}}
	if one.GetDeletionTimestamp() != nil {
		if err := r.Delete(ctx, page); client.IgnoreNotFound(err) != nil {
			return ctrl.Result{}, err
		}
		if controllerutil.RemoveFinalizer(one, finalizer) {
			return ctrl.Result{}, r.Update(ctx, one)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(one, finalizer) {
		if err := r.Update(ctx, one); err != nil {
			return ctrl.Result{}, err
		}
	}
	pages, _, err := unstructured.NestedInt64(one.Object, "spec", "pages")
	if err != nil {
		return ctrl.Result{}, err
	}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, page, func() error {
		page.Data = map[string]string{"pages": fmt.Sprint(pages)}
		return controllerutil.SetControllerReference(one, page, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	if err := unstructured.SetNestedField(one.Object, pages, "status", "written"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Status().Update(ctx, one)
}

func notebook(name, title string) *unstructured.Unstructured {
	one := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	if title != "" {
		one.Object["spec"] = map[string]any{"title": title}
	}
	one.SetGroupVersionKind(kind)
	one.SetNamespace("default")
	one.SetName(name)
	return one
}

func eventually(ctx context.Context, is func(context.Context) (bool, error)) error {
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, within, true, is)
}

func reconciled(ctx context.Context, c client.Client, _ *envtest.Environment) error {
	one := notebook("first", "a title")
	if err := c.Create(ctx, one); err != nil {
		return err
	}
	if pages, _, _ := unstructured.NestedInt64(one.Object, "spec", "pages"); pages != 32 {
		return fmt.Errorf("it has %d pages", pages)
	}
	if err := eventually(ctx, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(one), one)
		written, _, _ := unstructured.NestedInt64(one.Object, "status", "written")
		return written == 32, err
	}); err != nil {
		return err
	}
	page := &corev1.ConfigMap{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(one), page); err != nil {
		return err
	}
	if owner := metav1.GetControllerOf(page); owner == nil || owner.UID != one.GetUID() || page.Data["pages"] != "32" {
		return fmt.Errorf("its page is %v", page)
	}
	return nil
}

func refusedBySchema(ctx context.Context, c client.Client, _ *envtest.Environment) error {
	long := notebook("long", "a title with more than thirty-two letters")
	if err := c.Create(ctx, long); !apierrors.IsInvalid(err) {
		return fmt.Errorf("a rule said: %v", err)
	}
	thick := notebook("thick", "")
	thick.Object["spec"] = map[string]any{"pages": int64(101)}
	if err := c.Create(ctx, thick); !apierrors.IsInvalid(err) {
		return fmt.Errorf("a maximum said: %v", err)
	}
	return nil
}

func refusedByWebhook(ctx context.Context, c client.Client, _ *envtest.Environment) error {
	err := c.Create(ctx, notebook("forbidden", ""))
	if !apierrors.IsForbidden(err) {
		return fmt.Errorf("it said: %v", err)
	}
	return nil
}

func applied(ctx context.Context, c client.Client, _ *envtest.Environment) error {
	title := notebook("first", "another")
	if err := c.Patch(ctx, title, client.Apply, client.FieldOwner("a")); !apierrors.IsConflict(err) {
		return fmt.Errorf("a second owner was told: %v", err)
	}
	if err := c.Patch(ctx, title, client.Apply, &client.PatchOptions{FieldManager: "a", Force: yes}); err != nil {
		return err
	}
	pages := notebook("first", "")
	pages.Object["spec"] = map[string]any{"pages": int64(64)}
	if err := c.Patch(ctx, pages, client.Apply, &client.PatchOptions{FieldManager: "b", Force: yes}); err != nil {
		return err
	}
	if kept, _, _ := unstructured.NestedString(pages.Object, "spec", "title"); kept != "another" {
		return fmt.Errorf("the title is %q", kept)
	}
	return eventually(ctx, func(ctx context.Context) (bool, error) {
		page := &corev1.ConfigMap{}
		err := c.Get(ctx, types.NamespacedName{Namespace: "default", Name: "first"}, page)
		return page.Data["pages"] == "64", err
	})
}

func finalized(ctx context.Context, c client.Client, _ *envtest.Environment) error {
	one := notebook("first", "")
	if err := c.Delete(ctx, one); err != nil {
		return err
	}
	if err := eventually(ctx, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(one), one)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	}); err != nil {
		return err
	}
	err := c.Get(ctx, client.ObjectKeyFromObject(one), &corev1.ConfigMap{})
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("its page: %v", err)
	}
	return nil
}

func withoutRights(ctx context.Context, _ client.Client, environment *envtest.Environment) error {
	user, err := environment.AddUser(envtest.User{Name: "somebody"}, nil)
	if err != nil {
		return err
	}
	theirs, err := client.New(user.Config(), client.Options{})
	if err != nil {
		return err
	}
	if err := theirs.Get(ctx, types.NamespacedName{Name: "default"}, &corev1.Namespace{}); !apierrors.IsForbidden(err) {
		return fmt.Errorf("it said: %v", err)
	}
	return nil
}
